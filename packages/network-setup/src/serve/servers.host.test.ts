import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";
import { hasErrno } from "@virtkit/host-primitives";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  runIn,
  stopNamespaceHelper,
} from "@virtkit/host-primitives/namespaces";
import { afterAll, expect, test } from "vitest";
import { openJournal } from "../apply/journal.ts";
import { wirePod } from "../apply/wire-pod.ts";
import { parseResolvConf } from "../dhcp/resolv-conf.ts";
import { type CniPod, createCniPod } from "../testing/cni-pod.ts";
import { discoverPacket } from "../testing/dhcp-packets.ts";
import { sampleVmi } from "../testing/sample-pod.ts";
import { type RunningServers, startGuestServers } from "./guest-servers.ts";
import { openGuestSockets } from "./guest-sockets.ts";

afterAll(stopNamespaceHelper);

const guestMac = "02:11:22:33:44:55";

/** Servers in a wired Pod. */
async function serve(pod: CniPod): Promise<AsyncDisposable & RunningServers> {
  const journal = openJournal(`${pod.directory}/journal`, "servers");
  const vmi = sampleVmi([{ name: "default", masquerade: {}, macAddress: guestMac }]);
  const [plan] = await wirePod(vmi, pod.network, { journal, primaryFamily: "ipv4" });
  const dhcp = plan?.bindings[0]?.dhcp;
  if (!dhcp) throw new Error("the plan has no servers");
  return await startGuestServers(await openGuestSockets(pod.network, dhcp), dhcp, {
    mac: guestMac,
    hostname: "vm",
    resolvConf: parseResolvConf(""),
  });
}

/** A client in its own namespace, wired to the bridge and without an address, like a guest. */
async function client(pod: CniPod): Promise<AsyncDisposable & ReturnType<typeof createSocket>> {
  const name = `vkns${process.pid.toString(36)}g`;
  const namespace = await createNetworkNamespace(name);
  pod.inPod(
    `ip link add vp type veth peer name vg address ${guestMac} netns /run/netns/${name} && ip link set vp master k6t-eth0 up`,
  );
  execFileSync("nsenter", [`--net=/run/netns/${name}`, "ip", "link", "set", "vg", "up"]);
  const { descriptors } = await runIn([namespace], "openSocket", {
    kind: "udp4",
    port: 68,
    device: "vg",
    broadcast: true,
  });
  const socket = createSocket("udp4");
  const fd = descriptors[0]?.release();
  await new Promise<void>((resolve) => socket.bind({ fd } as never, resolve));
  return Object.assign(socket, {
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(() => resolve()));
      namespace.close();
      deleteNetworkNamespace(name);
    },
  });
}

/**
 * Asks like a guest: again until there is an answer, because a link that has just come up loses
 * packets.
 */
async function untilAnswered(ask: () => void, answers: () => number): Promise<void> {
  const before = answers();
  const retry = setInterval(ask, 500);
  try {
    ask();
    await expect.poll(answers, { timeout: 30_000 }).toBeGreaterThan(before);
  } finally {
    clearInterval(retry);
  }
}

test("answers the guest, but not a rogue client with another MAC, nor nonsense", async () => {
  await using pod = await createCniPod({ families: ["ipv4"] });
  await using running = await serve(pod);
  await using socket = await client(pod);
  const replies: Buffer[] = [];
  socket.on("message", (reply) => replies.push(reply));
  const send = (bytes: Buffer): void => void socket.send(bytes, 67, "255.255.255.255");
  await untilAnswered(
    () => send(discoverPacket(guestMac)),
    () => replies.length,
  );
  const { dhcp4 } = running.counters;
  if (!dhcp4) throw new Error("there is no DHCP server");
  const before = { ...dhcp4 };
  send(discoverPacket("02:66:66:66:66:66"));
  send(Buffer.from("nonsense"));
  send(Buffer.alloc(1_400, 0xff));
  await expect.poll(() => dhcp4.malformed, { timeout: 30_000 }).toBe(before.malformed + 2);
  expect(dhcp4).toMatchObject({ ignored: before.ignored + 1 });
  await expect.poll(() => dhcp4.received - dhcp4.answered, { timeout: 30_000 }).toBe(3);
  expect(replies[0]?.subarray(16, 20).join(".")).toBe("10.0.2.2");
});

test("memory stays flat under 10,000 DISCOVERs a second for 5 s, and the guest still gets answers", async () => {
  await using pod = await createCniPod({ families: ["ipv4"] });
  await using running = await serve(pod);
  await using socket = await client(pod);
  const replies = { count: 0 };
  socket.on("message", () => replies.count++);
  const packet = discoverPacket(guestMac);
  // A busy host takes longer; what counts is how many there are.
  const flood = async (seconds: number): Promise<void> => {
    const start = performance.now();
    for (let sent = 0; sent < seconds * 10_000; await sleep(1)) {
      // After a pause on a busy host not all at once: what waits to be sent takes memory too.
      const due = Math.min(((performance.now() - start) / 1_000) * 10_000, sent + 500);
      for (; sent < due; sent++) socket.send(packet, 67, "255.255.255.255", () => {});
    }
  };
  await flood(1);
  await sleep(300);
  const before = process.memoryUsage().rss;
  await flood(5);
  await expect.poll(() => running.counters.dhcp4?.answered).toBeGreaterThan(1_000);
  const grown = process.memoryUsage().rss - before;
  expect(grown / (1 << 20)).toBeLessThan(64);
  await untilAnswered(
    () => socket.send(packet, 67, "255.255.255.255"),
    () => replies.count,
  );
});

test("a namespace that is gone has no sockets to offer, and the error says so", async () => {
  const pod = await createCniPod({ families: ["ipv4"] });
  await pod[Symbol.asyncDispose]();
  const link = { link: "k6t-eth0", config: {} } as never;
  const error = await openGuestSockets(pod.network, link).catch((reason: unknown) => reason);
  expect(hasErrno(error, "EBADF") || (error as { code?: string }).code === "HOST_CLOSED").toBe(
    true,
  );
});
