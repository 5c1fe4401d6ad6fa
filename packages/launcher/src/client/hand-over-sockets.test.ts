import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@virtkit/api/clock";
import { silentLog } from "@virtkit/api/observe";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { listenUnix, openSocket } from "@virtkit/host-primitives/sockets";
import { expect, onTestFinished, test } from "vitest";
import { HandoverServer } from "../process/handover.ts";
import { handOverSockets } from "./hand-over-sockets.ts";
import { type Handover, readHandover, writeHandover } from "./handover-message.ts";

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "virtkit-handover-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const probe = createSocket("udp4");
  await new Promise<void>((resolve) => probe.bind({ address: "127.0.0.1" }, resolve));
  const { port } = probe.address();
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}

async function listening(path: string): Promise<HandoverServer> {
  const server = new HandoverServer({ path, log: silentLog });
  await server.listen();
  onTestFinished(async () => await server[Symbol.asyncDispose]());
  return server;
}

function handover(network: string, port = 0): Handover {
  return {
    network,
    sockets: {
      dhcp4: openSocket({ kind: "udp4", address: "127.0.0.1", port, reuseAddress: true }),
      serverMac: "02:00:00:00:00:fe",
    },
    servers: {
      link: "k6t-eth0",
      config: {
        name: network,
        ip: "10.0.2.2/24",
        ipv6: "",
        mac: "02:00:00:00:00:01",
        serverIp: "10.0.2.1",
        gateway: "10.0.2.1",
        routes: [],
        mtu: 1500,
        subdomain: "",
        disabled: false,
      } as never,
    },
    identity: {
      mac: "02:00:00:00:00:01",
      hostname: "demo",
      resolvConf: { ipv4: ["10.96.0.10"], ipv6: [], searchDomains: ["cluster.local"] },
    },
  };
}

test("serves sockets that are handed over, and closes them on this side", async () => {
  const path = directory();
  const server = await listening(join(path, "s"));
  using root = openRoot(path);
  using socket = root.resolve("/s", "socket");
  const port = await freePort();
  const given = handover("default", port);
  await handOverSockets(socket, [given, handover("blue")]);
  expect(given.sockets.dhcp4?.closed).toBe(true);
  expect(server.networks).toEqual(["blue", "default"]);
  // The kernel delivers to whoever holds the socket now: nobody else would keep the port.
  const probe = createSocket("udp4");
  await expect(
    new Promise((resolve, reject) => {
      probe.once("error", reject);
      probe.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve("free"));
    }),
  ).rejects.toMatchObject({ code: "EADDRINUSE" });
  probe.close();
  await handOverSockets(socket, [handover("blue")]);
  expect(server.networks).toEqual(["blue", "default"]);
});

test("refuses what cannot be served with the reason, and accepts the next handover", async () => {
  const path = directory();
  const server = await listening(join(path, "s"));
  using root = openRoot(path);
  using socket = root.resolve("/s", "socket");
  const wrong = handover("default");
  const broken = { ...wrong, identity: { ...wrong.identity, hostname: 7 as never } };
  await expect(handOverSockets(socket, [broken])).rejects.toMatchObject({
    code: "LAUNCHER_FAILED",
    message: expect.stringContaining("handover.identity.hostname"),
  });
  expect(wrong.sockets.dhcp4?.closed).toBe(true);
  await handOverSockets(socket, [handover("default")]);
  expect(server.networks).toEqual(["default"]);
});

test("gives up a silent launcher and closes the sockets", async () => {
  const path = directory();
  using _silent = listenUnix(join(path, "s"), { type: "sequential" });
  using root = openRoot(path);
  using socket = root.resolve("/s", "socket");
  const given = handover("default");
  const clock = new ManualClock();
  let isOver = false;
  const handing = handOverSockets(socket, [given], { timeout: 1_000, clock }).finally(() => {
    isOver = true;
  });
  const refused = expect(handing).rejects.toMatchObject({ code: "LAUNCHER_CLOSED" });
  await clock.pass(999);
  expect(isOver).toBe(false);
  await clock.pass(10);
  await refused;
  expect(given.sockets.dhcp4?.closed).toBe(true);
});

test("rejects a message that does not fit its descriptors", () => {
  const given = handover("default");
  const { data, descriptors } = writeHandover(given);
  expect(readHandover(data, descriptors)).toMatchObject({ network: "default" });
  expect(() => readHandover(data, [])).toThrow(/names dhcp4, but 0 descriptors arrived/);
  expect(() => readHandover(Buffer.from("{"), [])).toThrow(/not JSON/);
  expect(() => readHandover(Buffer.from("{}"), [])).toThrow(/handover.network/);
  given.sockets.dhcp4?.close();
});

test("does not send a description that is too long", () => {
  const given = handover("default");
  const servers = { ...given.servers, link: "x".repeat(70_000) };
  expect(() => writeHandover({ ...given, servers })).toThrow(/70\d{3} bytes/);
  given.sockets.dhcp4?.close();
});
