import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { chmodSync, openSync, readlinkSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pollDescriptor } from "../ffi/foreign.ts";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  type Namespace,
  runIn,
  stopNamespaceHelper,
} from "../namespaces/index.ts";
import { OwnedFd } from "../owned-fd.ts";
import {
  finish,
  openDescriptors,
  shell,
  temporaryDirectory,
  uniqueName,
} from "../testing/host-fixtures.ts";
import {
  openSocket,
  receiveDatagram,
  receiveDescriptors,
  sendDatagram,
  sendDescriptors,
  socketPair,
  whenReadable,
} from "./index.ts";

const name = uniqueName("sock");
let namespace: Namespace;

beforeAll(async () => {
  namespace = await createNetworkNamespace(name);
  await shell("ip link set lo up", { join: [namespace] });
});
afterAll(async () => {
  namespace.close();
  deleteNetworkNamespace(name);
  await stopNamespaceHelper();
});

test("descriptors arrive with their message and refer to the same object", () => {
  using directory = temporaryDirectory();
  const [left, right] = socketPair();
  const sent = new OwnedFd(openSync(join(directory.path, "file"), "w+"), "file");
  sendDescriptors(left, Buffer.from("here"), [sent, sent]);
  const { data, descriptors } = receiveDescriptors(right);
  expect(data.toString()).toBe("here");
  expect(descriptors).toHaveLength(2);
  writeSync(descriptors[0]?.fd ?? -1, "through");
  const buffer = Buffer.alloc(7);
  readSync(sent.fd, buffer, 0, 7, 0);
  expect(buffer.toString()).toBe("through");
  for (const owned of [...descriptors, sent, left, right]) owned.close();
});

test("closes descriptors above the limit instead of leaking them", () => {
  const [left, right] = socketPair("sequential");
  const before = openDescriptors();
  sendDescriptors(left, Buffer.from("x"), [left, left, left, left, left]);
  expect(() => receiveDescriptors(right, { maxDescriptors: 2 })).toThrow(
    expect.objectContaining({ code: "HOST_LIMIT_EXCEEDED" }),
  );
  expect(openDescriptors()).toBe(before);
  left.close();
  expect(receiveDescriptors(right).data).toHaveLength(0);
  right.close();
});

/** Drops to uid 107, receives one descriptor on its descriptor 3 and reads what it refers to. */
const receiver = `
  const fs = await import("node:fs");
  const base = ${JSON.stringify(new URL("../../dist/", import.meta.url).href)};
  const { OwnedFd } = await import(base + "index.js");
  const { receiveDescriptors } = await import(base + "sockets/index.js");
  process.setgroups([]); process.setgid(107); process.setuid(107);
  let byPath = "readable";
  try { fs.readFileSync(process.argv[1]); } catch (error) { byPath = error.code; }
  const { data, descriptors } = receiveDescriptors(new OwnedFd(3, "parent"));
  const text = fs.readFileSync(descriptors[0].fd, "utf8");
  console.log(JSON.stringify({ uid: process.getuid(), byPath, data: String(data), text }));
`;

test("a child with uid 107 uses a file that it could not open itself", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "secret");
  writeFileSync(path, "for you only");
  chmodSync(path, 0o600);
  const [ours, theirs] = socketPair();
  using file = new OwnedFd(openSync(path, "r"), path);
  sendDescriptors(ours, Buffer.from("disk0"), [file]);
  const child: ChildProcess = spawn(
    process.execPath,
    ["--input-type=module", "-e", receiver, "--", path],
    { stdio: ["ignore", "pipe", "pipe", theirs.fd] },
  );
  const { output } = await finish(child);
  expect(JSON.parse(output)).toEqual({
    uid: 107,
    byPath: "EACCES",
    data: "disk0",
    text: "for you only",
  });
  ours.close();
  theirs.close();
});

test("binds a datagram socket to a device of a namespace and hands it to Node", async () => {
  const spec = {
    kind: "udp4",
    port: 6767,
    device: "lo",
    broadcast: true,
    reuseAddress: true,
  } as const;
  const { descriptors } = await runIn([namespace], "openSocket", spec);
  const socket = createSocket("udp4");
  const received = new Promise<string>((resolve) =>
    socket.once("message", (text) => resolve(String(text))),
  );
  socket.bind({ fd: descriptors[0]?.release() ?? -1 });
  const sender = await runIn([namespace], "openSocket", { kind: "udp4" });
  const out = createSocket("udp4");
  out.bind({ fd: sender.descriptors[0]?.release() ?? -1 });
  await new Promise((resolve) => out.send("hello", 6767, "127.0.0.1", resolve));
  expect(await received).toBe("hello");
  socket.close();
  out.close();
  await expect(
    runIn([namespace], "openSocket", { kind: "udp4", device: "none0" }),
  ).rejects.toMatchObject({ errno: "ENODEV", syscall: "setsockopt" });
});

test("a raw ICMPv6 socket receives only the types that it asked for", async () => {
  const spec = { kind: "icmp6", device: "lo", types: [129] } as const;
  const receiver = await runIn([namespace], "openSocket", spec);
  const sender = await runIn([namespace], "openSocket", { kind: "icmp6" });
  const [into, out] = [receiver.descriptors[0] as OwnedFd, sender.descriptors[0] as OwnedFd];
  // An echo request; the kernel fills in the checksum and answers it.
  sendDatagram(out, Buffer.from("8000000012340001", "hex"), { address: "::1" });
  const controller = new AbortController();
  for await (const _ of whenReadable(into, controller)) {
    const reply = receiveDatagram(into);
    // 129 is the echo reply; the request, 128, was dropped by the kernel.
    expect(reply).toMatchObject({ from: { address: "::1" } });
    expect(reply?.data[0]).toBe(129);
    expect(receiveDatagram(into)).toBeUndefined();
    controller.abort();
  }
  for (const socket of [into, out]) socket.close();
});

test("rejects a datagram that is larger than allowed", async () => {
  const [left, right] = socketPair("datagram");
  sendDatagram(left, Buffer.alloc(100));
  expect(() => receiveDatagram(right, { maxBytes: 99 })).toThrow(
    expect.objectContaining({ code: "HOST_LIMIT_EXCEEDED" }),
  );
  sendDatagram(left, Buffer.alloc(99));
  expect(receiveDatagram(right, { maxBytes: 99 })?.data).toHaveLength(99);
  left.close();
  right.close();
});

test("reports lost netlink messages on the next read, and keeps waiting", async () => {
  const spec = { kind: "netlink", protocol: 0, groups: 1, receiveBufferBytes: 4096 } as const;
  const monitor = (await runIn([namespace], "openSocket", spec)).descriptors[0] as OwnedFd;
  const links = "for i in $(seq 60); do ip link set lo mtu $((60000 + i)); done";
  const seen = { events: 0, lost: 0 };
  const controller = new AbortController();
  const watching = (async () => {
    for await (const _ of whenReadable(monitor, controller)) {
      try {
        while (receiveDatagram(monitor)) seen.events++;
      } catch {
        seen.lost++;
      }
    }
  })();
  // The main thread is busy while events arrive, until the socket's buffer is full.
  spawnSync("nsenter", [`--net=/run/netns/${name}`, "sh", "-c", links]);
  await shell("ip link set lo mtu 65000", { join: [namespace] });
  await expect.poll(() => seen.lost).toBeGreaterThan(0);
  const before = seen.events;
  await shell("ip link set lo mtu 64000", { join: [namespace] });
  await expect.poll(() => seen.events).toBeGreaterThan(before);
  controller.abort();
  await watching;
  monitor.close();
});

test("unread data does not keep the event loop busy", async () => {
  const [left, right] = socketPair();
  sendDatagram(left, Buffer.from("x"));
  let calls = 0;
  const poll = pollDescriptor(right.fd, () => {
    calls++;
  });
  await expect.poll(() => calls).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(calls).toBe(1);
  poll.again();
  await expect.poll(() => calls).toBe(2);
  poll.close();
  left.close();
  right.close();
});

test("allows one wait per descriptor, and none on files", async () => {
  const [left, right] = socketPair();
  const controller = new AbortController();
  const first = whenReadable(right, controller)[Symbol.asyncIterator]();
  const pending = first.next();
  const again = whenReadable(right)[Symbol.asyncIterator]();
  await expect(again.next()).rejects.toMatchObject({ code: "HOST_ARGUMENT_INVALID" });
  using file = new OwnedFd(openSync("/etc/hostname", "r"), "file");
  const wait = whenReadable(file)[Symbol.asyncIterator]();
  await expect(wait.next()).rejects.toMatchObject({ code: "HOST_ARGUMENT_INVALID" });
  controller.abort();
  expect((await pending).done).toBe(true);
  left.close();
  right.close();
});

test("children do not inherit sockets", async () => {
  using socket = openSocket({ kind: "netlink", protocol: 0 });
  const child = spawn("ls", ["-l", "/proc/self/fd"], { stdio: ["ignore", "pipe", "pipe"] });
  expect((await finish(child)).output).not.toContain(readlinkSync(socket.procPath));
});

test("joins a multicast group on a link, and names a missing link", () => {
  const groups = ["ff02::1:2"];
  openSocket({ kind: "udp6", device: "lo", groups }).close();
  openSocket({ kind: "icmp6", device: "lo", groups: ["ff02::2"] }).close();
  expect(() => openSocket({ kind: "udp6", groups })).toThrow(/name/);
});
