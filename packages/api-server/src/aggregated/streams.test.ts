import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { until } from "@virtkit/api/clock";
import { maxStreamMessage } from "@virtkit/api/subresources/node";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type WebSocket from "ws";
import { StartedServer } from "../testing/started-server.ts";
import { seedRunningVm } from "../testing/vm-objects.ts";

let started: StartedServer;
let guest: Server;

beforeAll(async () => {
  const streams = { perVmi: 3, inAll: 10 };
  started = await StartedServer.start({ limits: { streams, ping: 20 } });
  seedRunningVm(started.cluster);
  guest = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => guest.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  guest.close();
  await started[Symbol.asyncDispose]();
});
beforeEach(() => {
  started.node.answer = undefined;
});

async function open(rest: string): Promise<WebSocket> {
  const socket = await started.stream(rest);
  if (typeof socket === "number") throw new Error(`refused with ${socket}`);
  return socket;
}

async function closed(socket: WebSocket): Promise<void> {
  socket.close();
  await once(socket, "close");
  await until(() => started.server.openStreams === 0, { interval: 5, timeout: 30_000 });
}

async function echoes(socket: WebSocket, size: number): Promise<void> {
  const sent = Buffer.alloc(size, 7);
  let received = 0;
  const all = new Promise<void>((resolve) => {
    socket.on("message", (data: Buffer) => {
      received += data.length;
      if (received === size) resolve();
    });
  });
  for (let at = 0; at < size; at += 100_000) socket.send(sent.subarray(at, at + 100_000));
  await all;
}

test.each(["console", "vnc"])(
  "%s carries bytes both ways, greeted by the node itself",
  async (name) => {
    const socket = await open(`virtualmachineinstances/vm/${name}`);
    expect(socket.protocol).toBe("plain.kubevirt.io");
    await echoes(socket, 1_000_000);
    await closed(socket);
  },
);

test("a VSOCK port of a guest is asked of its node, with TLS unless the caller does without", async () => {
  const { cluster, node } = started;
  const metadata = { name: "sock", namespace: "default", uid: "sock-uid" };
  const domain = { devices: { autoattachVSOCK: true }, memory: { guest: "1Gi" } };
  cluster.seedByKind({
    ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", metadata },
    ...{ spec: { domain }, status: { phase: "Running", nodeName: "node01", VSOCKCID: 7 } },
  } as never);
  const before = node.seen.length;
  for (const query of ["port=22", "port=23&tls=false"]) {
    const socket = await open(`virtualmachineinstances/sock/vsock?${query}`);
    await echoes(socket, 1_000);
    await closed(socket);
  }
  const path = "/v1/namespaces/default/virtualmachineinstances/sock/vsock";
  expect(node.seen.slice(before)).toMatchObject([
    { target: `${path}?port=22&tls=true`, uid: "sock-uid" },
    { target: `${path}?port=23&tls=false`, uid: "sock-uid" },
  ]);
  node.answer = { code: 500, body: "this node cannot reach CID 7: run modprobe vhost_vsock" };
  expect(await started.stream("virtualmachineinstances/sock/vsock?port=22")).toBe(500);
  // A guest without the device is not asked for.
  expect(await started.stream("virtualmachineinstances/vm/vsock?port=22")).toBe(400);
});

test("sends pings between frames, and the stream survives them", async () => {
  const socket = await open("virtualmachineinstances/vm/console");
  let pings = 0;
  socket.on("ping", () => {
    pings += 1;
  });
  await echoes(socket, 2_000_000);
  await until(() => pings >= 2, { interval: 5, timeout: 30_000 });
  await closed(socket);
});

test("forwards a port of the guest, and rejects a port where nobody listens", async () => {
  const { port } = guest.address() as { port: number };
  const socket = await open(`virtualmachineinstances/vm/portforward/${port}/tcp`);
  await echoes(socket, 1_000_000);
  await closed(socket);
  expect(await started.stream("virtualmachines/vm/portforward/1")).toBe(500);
});

test("forwards a UDP port of the guest: one message is one datagram, and text messages are not sent", async () => {
  const guestPort = createSocket("udp4");
  guestPort.on("message", (datagram, { address, port }) => {
    guestPort.send(Buffer.concat([Buffer.from(`${datagram.length}:`), datagram]), port, address);
  });
  guestPort.bind(0, "127.0.0.1");
  await once(guestPort, "listening");
  const { port } = guestPort.address();
  const socket = await open(`virtualmachineinstances/vm/portforward/${port}/udp`);
  const received: string[] = [];
  socket.on("message", (data: Buffer) => received.push(data.toString()));
  // One after the other: datagrams may be dropped and need not come in order.
  const answered = async (count: number): Promise<boolean | undefined> =>
    await until(() => received.length === count, { interval: 5, timeout: 30_000 });
  socket.send(Buffer.from("one"));
  expect(await answered(1)).toBe(true);
  socket.send("text, which is not sent");
  socket.send(Buffer.alloc(0));
  expect(await answered(2)).toBe(true);
  socket.send(Buffer.alloc(9_000, "x"));
  expect(await answered(3)).toBe(true);
  expect(received).toEqual(["3:one", "0:", `9000:${"x".repeat(9_000)}`]);
  // What is too long for a datagram ends this stream, and says so.
  const over = once(socket, "close");
  socket.send(Buffer.alloc(70_000));
  expect((await over)[0]).toBe(1011);
  await until(() => started.server.openStreams === 0, { interval: 5, timeout: 30_000 });
  guestPort.close();
});

test("a UDP port where nobody listens ends the stream once the guest reports it", async () => {
  const free = createSocket("udp4");
  free.bind(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address();
  free.close();
  await once(free, "close");
  const socket = await open(`virtualmachines/vm/portforward/${port}/udp`);
  const ended = once(socket, "close");
  socket.send(Buffer.from("anybody?"));
  expect((await ended)[0]).toBe(1011);
  await until(() => started.server.openStreams === 0, { interval: 5, timeout: 30_000 });
});

test("a message over the limit ends its own stream and no other", async () => {
  const { port } = guest.address() as { port: number };
  const socket = await open(`virtualmachineinstances/vm/portforward/${port}`);
  const other = await open("virtualmachineinstances/vm/console");
  const over = once(socket, "close");
  socket.send(Buffer.alloc(1024 * 1024 + 1));
  expect((await over)[0]).toBe(1009);
  await echoes(other, 1000);
  await closed(other);
});

test("a frame longer than the node accepts ends its console and no other", async () => {
  const [socket, other] = [
    await open("virtualmachineinstances/vm/console"),
    await open("virtualmachineinstances/vm/console"),
  ];
  const over = once(socket, "close");
  socket.send(Buffer.alloc(maxStreamMessage + 1));
  expect((await over)[0]).toBe(1009);
  await echoes(other, 1000);
  await closed(other);
});

test("in a flood of clients, as many as allowed get a stream, the rest a 429, and other requests an answer", async () => {
  const console = "virtualmachineinstances/vm/console";
  const flood = Array.from({ length: 60 }, () => started.stream(console));
  expect((await started.ask("GET", "/healthz")).code).toBe(200);
  const got = await Promise.all(flood);
  expect(got.filter((answer) => answer === 429)).toHaveLength(57);
  const opened = got.filter((answer) => typeof answer !== "number");
  expect(opened).toHaveLength(3);
  expect(started.server.openStreams).toBe(3);
  for (const socket of opened) await echoes(socket, 1000);
  for (const socket of opened) socket.terminate();
  await until(() => started.server.openStreams === 0, { interval: 5, timeout: 30_000 });
});

test("a VMI has a limited number of streams; another one can begin when one ends", async () => {
  const console = "virtualmachineinstances/vm/console";
  const sockets = await Promise.all([open(console), open(console), open(console)]);
  expect(await started.stream(console)).toBe(429);
  const [first, ...rest] = sockets;
  first?.close();
  await until(() => started.server.openStreams === 2, { interval: 5, timeout: 30_000 });
  rest.push(await open(console));
  for (const socket of rest) socket.terminate();
  await until(() => started.server.openStreams === 0, { interval: 5, timeout: 30_000 });
});

test("a rejection by the node is reported before the upgrade", async () => {
  started.node.answer = { code: 404, body: "no such VMI" };
  expect(await started.stream("virtualmachineinstances/vm/console")).toBe(404);
});

test("rejects an unknown subprotocol and a user without permission", async () => {
  const console = "virtualmachineinstances/vm/console";
  expect(await started.stream(console, { protocol: "base64.example" })).toBe(400);
  started.access.allow = { allowed: false };
  expect(await started.stream(console)).toBe(403);
  started.access.allow = { allowed: true };
  expect(started.server.openStreams).toBe(0);
});

test("a flooded stream ends with its client and leaves nothing behind", async () => {
  const socket = await open("virtualmachineinstances/vm/console");
  for (let i = 0; i < 200; i++) socket.send(Buffer.alloc(100_000));
  socket.terminate();
  await until(() => started.server.openStreams === 0, { interval: 5, timeout: 30_000 });
});
