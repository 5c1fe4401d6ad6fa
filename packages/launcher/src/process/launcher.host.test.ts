import { existsSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { names } from "@virtkit/api/names";
import { type GuestEvent, MayRun } from "@virtkit/domain-manager";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { openSocket } from "@virtkit/host-primitives/sockets";
import { runProgram } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectLauncher } from "../client/connect-launcher.ts";
import { dialSafely } from "../client/dial-safely.ts";
import { handOverSockets } from "../client/hand-over-sockets.ts";
import { handoverSocket } from "../client/handover-socket.ts";
import type { LauncherClient } from "../client/launcher-client.ts";
import {
  commandOf,
  createSurroundings,
  descendants,
  type LauncherProcess,
  memoryOf,
  type Surroundings,
  syncRequest,
  until,
  vmiOf,
} from "../testing/launcher-fixture.ts";

/** One guest for all of these tests, which run in this order: its launcher's whole life, as PID 1. */
let place: Surroundings;
let launcher: LauncherProcess;
let client: LauncherClient;
const seen: GuestEvent[] = [];
let following: Promise<void>;

const patience = { timeout: 100_000 };
const sockets = (): string => `${place.run}/kubevirt/sockets`;
const guestPid = (): number | undefined =>
  descendants(launcher.pid).find((pid) => commandOf(pid).includes("qemu-system"));
const daemonPid = (): number | undefined =>
  descendants(launcher.pid).find((pid) => commandOf(pid).includes("sbin/libvirtd"));

/** Asks until there is an answer: an agent's channel may close and open again at any time. */
const inGuest = async (script: string): Promise<string> =>
  await until(`"${script}" in the guest`, async () => {
    const args = ["-c", script];
    const ran = client.exec({ command: "/bin/sh", args, timeoutSeconds: 20 });
    return await ran.then(
      ({ stdout }) => stdout.trim(),
      () => undefined,
    );
  });

beforeAll(async () => {
  place = await createSurroundings();
  launcher = await place.start();
  client = await launcher.connect();
  following = (async () => {
    for await (const event of client.events()) seen.push(event);
  })().catch(() => undefined);
});

afterAll(async () => {
  await client?.close();
  await place?.[Symbol.asyncDispose]();
});

test("is PID 1 of its namespace, and not root", () => {
  const status = readFileSync(`/proc/${launcher.pid}/status`, "utf8");
  expect(status).toMatch(/^NSpid:.*\t1$/m);
  expect(status).toMatch(/^Uid:\t107\t107\t107\t107$/m);
});

test("is ready when its socket has its second name, which only its user may open", () => {
  expect(existsSync(`${sockets()}/launcher-init-sock`)).toBe(false);
  const { mode, uid } = statSync(`${sockets()}/launcher-sock`);
  expect([mode & 0o777, uid]).toEqual([0o600, 107]);
});

test("describes itself", async () => {
  await client.ping();
  expect(await client.info()).toMatchObject({ versions: [1], vmi: vmiOf, servedNetworks: [] });
  expect(await client.status()).toMatchObject({ name: "default_demo", state: "Absent" });
});

test.each([
  ["another VMI", { ...syncRequest().mayRun.grant, vmiUid: "other" }],
  ["another Pod", { ...syncRequest().mayRun.grant, podUid: "other" }],
])("a grant for %s starts nothing", async (_, grant) => {
  const request = { ...syncRequest(), mayRun: MayRun.fromAgent(grant) };
  await expect(client.syncVmi(request, patience)).rejects.toMatchObject({
    code: "DOMAIN_NOT_GRANTED",
  });
  expect(guestPid()).toBeUndefined();
});

test("turns a VMI into a guest and reports it as events", async () => {
  expect(await client.syncVmi(syncRequest(), patience)).toMatchObject({ state: "Running" });
  expect(guestPid()).toBeDefined();
  await until("the guest's stages", () => {
    const stages = seen.flatMap((event) => (event.kind === "stage" ? event.stage : []));
    return stages.includes("domain-defined") && stages.includes("guest-running") ? true : undefined;
  });
  expect(seen[0]).toMatchObject({ kind: "status", status: { state: "Absent" } });
});

test("the guest boots and its agent answers", async () => {
  expect(await inGuest("echo $((6*7))")).toBe("42");
});

test("the guest's serial console is a socket at the place that the node agent expects", async () => {
  const path = `${place.run}/kubevirt-private/${vmiOf.uid}/virt-serial0`;
  const console = connect(path);
  const said = new Promise<string>((resolve) => {
    let text = "";
    console.on("data", (chunk) => {
      text += String(chunk);
      if (text.includes("49")) resolve(text);
    });
  });
  const typing = setInterval(() => console.write("echo $((7*7))\n"), 500);
  expect(await said).toContain("49");
  clearInterval(typing);
  console.destroy();
});

test("a node agent reaches it and hands over sockets through its root, without following links", async () => {
  using handle = ProcessHandle.open(launcher.pid);
  using root = handle.openRoot();
  using socket = root.resolve(names().sockets.launcher, "socket");
  const agent = await connectLauncher({ dial: dialSafely(socket) });
  using handover = root.resolve(handoverSocket(), "socket");
  const dhcp4 = openSocket({ kind: "udp4", address: "127.0.0.1" });
  const config = {
    ip: "10.0.2.2/24",
    mac: "",
    serverIp: "10.0.2.1",
    routes: [],
    mtu: 1500,
    ipv6: "",
  };
  await handOverSockets(handover, [
    {
      network: "default",
      sockets: { dhcp4, serverMac: "02:00:00:00:00:fe" },
      servers: { link: "k6t-eth0", config: config as never },
      identity: {
        mac: "02:00:00:00:00:01",
        hostname: "demo",
        resolvConf: { ipv4: [], ipv6: [], searchDomains: [] },
      },
    },
  ]);
  expect(dhcp4.closed).toBe(true);
  expect(await agent.info()).toMatchObject({ servedNetworks: ["default"] });
  await agent.close();
});

test("takes at most 80 MiB of memory with a running guest", async () => {
  for (let index = 0; index < 500; index++) await client.status();
  const { rss, anonymous } = memoryOf(launcher.pid);
  process.stdout.write(`launcher with a running guest: RSS ${rss} MiB, RssAnon ${anonymous} MiB\n`);
  expect(rss).toBeLessThanOrEqual(80);
});

test("leaves no orphans of its namespace as zombies", async () => {
  const args = [
    `--pid=/proc/${launcher.pid}/ns/pid`,
    "sh",
    "-c",
    "for i in 1 2 3; do sleep 0 & done",
  ];
  await runProgram("nsenter", args);
  await until("the orphans are gone", () => {
    const zombies = descendants(launcher.pid).filter((pid) => /^State:\s+Z/m.test(statusOf(pid)));
    return zombies.length === 0 ? true : undefined;
  });
  expect(launcher.log()).toContain("reaped orphans");
});

test("libvirtd killed under a running guest: no guest is lost", async () => {
  const [guest, daemon] = [guestPid(), daemonPid() ?? 0];
  const boot = await inGuest("cat /proc/sys/kernel/random/boot_id");
  process.kill(daemon, "SIGKILL");
  const next = await until("another libvirtd", () => {
    const pid = daemonPid();
    return pid === daemon ? undefined : pid;
  });
  expect(next).not.toBe(daemon);
  await until("the guest is seen again", async () => {
    const status = await client.status().catch(() => undefined);
    return status?.state === "Running" ? true : undefined;
  });
  expect(guestPid()).toBe(guest);
  expect(await inGuest("cat /proc/sys/kernel/random/boot_id")).toBe(boot);
  expect(await client.syncVmi(syncRequest(), patience)).toMatchObject({ state: "Running" });
  expect(guestPid()).toBe(guest);
});

test("on SIGTERM, shuts the guest down, reports the outcome, and ends when all have seen it", async () => {
  launcher.signal("SIGTERM");
  const last = await until("the last status", () => {
    const statuses = seen.flatMap((event) => (event.kind === "status" ? event.status : []));
    // Before its start the guest was shut off as well, for another reason.
    return statuses.find(({ state, reason }) => state === "Shutoff" && reason !== "Unknown");
  });
  expect(last).toMatchObject({
    reason: "Shutdown",
    shutdownRequestedAt: expect.stringMatching(/^20/),
  });
  await expect(client.syncVmi(syncRequest())).rejects.toMatchObject({ code: "DOMAIN_STATE" });
  await client.delete();
  expect(await launcher.exit).toBe(0);
  const [text, json = ""] = readFileSync(place.terminationLog, "utf8").split("\n");
  expect(text).toBe("The guest shut down as requested.");
  expect(JSON.parse(json)).toEqual({
    ...{ how: "shut-down", state: "Shutoff", reason: "Shutdown" },
    end: {
      kind: "Stopped",
      message: "the guest shut down as requested",
      at: expect.any(String),
    },
  });
});

test("leaves nothing behind", async () => {
  await client.closed;
  await following;
  expect(existsSync(`/proc/${launcher.pid}`)).toBe(false);
  for (const name of ["launcher-sock", "launcher-init-sock", "launcher-handover-sock"]) {
    expect(existsSync(`${sockets()}/${name}`), name).toBe(false);
  }
});

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}
