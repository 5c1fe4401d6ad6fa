import { once } from "node:events";
import { appendFile, chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { until } from "@virtkit/api/clock";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { guestDomainXml, type Libvirtd, startLibvirtd } from "@virtkit/lab";
import {
  CertificateAuthority,
  type Credentials,
  type MigrationSide,
  migrationIdentity,
  qemuTlsFiles,
} from "@virtkit/pki";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type SourceProxy, startSourceProxy } from "./source-proxy.ts";
import { startTargetProxy, type TargetProxy } from "./target-proxy.ts";

/** Where each sandbox sees a directory of its own: both sides of a migration name the same path. */
const shared = "/mnt/migration";
/** QEMU's user. */
const user = 107;
const uid = "6f4e58b1-6a35-4cf7-a3a4-5a29f57d8f9c";
const channels = { libvirt: "control", memory: "data" } as const;

let source: Libvirtd;
let target: Libvirtd;
let authority: CertificateAuthority;
let bootId: string;
let proxies: [SourceProxy, TargetProxy] | undefined;

beforeAll(async () => {
  authority = await newAuthority();
  [source, target] = await Promise.all([startNode("source"), startNode("target")]);
  const xml = guestDomainXml({ name: "vm1", guest: await source.guest(), cmdline: "hb=none" });
  await writeFile(`${source.directory}/vm1.xml`, xml);
  await source.virsh("define", `${source.directory}/vm1.xml`);
  await source.virsh("start", "vm1");
  bootId = await bootIdOf(source);
});

afterEach(async () => {
  for (const proxy of proxies ?? []) await proxy.close();
  proxies = undefined;
});

afterAll(async () => {
  await source?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
});

test("QEMU rejects a target whose certificate is for another migration, and the guest keeps running", async () => {
  await showToQemu(source, "source", await issue("source"));
  await showToQemu(target, "target", await authority.issue(migrationIdentity("another", "target")));
  await expect(migrate()).rejects.toThrow(/certificate/i);
  await expectUnharmed();
});

test("QEMU rejects a source whose certificate is from another CA, and the guest keeps running", async () => {
  const { authorities } = await issue("source");
  const stranger = await (await newAuthority()).issue(migrationIdentity(uid, "source"));
  // It trusts the target, and its own certificate: only the target finds fault with it.
  await showToQemu(source, "source", {
    ...stranger,
    authorities: authorities + stranger.authorities,
  });
  await showToQemu(target, "target", await issue("target"));
  await expect(migrate()).rejects.toThrow();
  const log = await readFile(`${target.directory}/cache/libvirt/qemu/log/vm1.log`, "utf8");
  expect(log).toContain("Verify failed");
  await expectUnharmed();
});

test("the guest moves through the proxies in streams that QEMU encrypts", async () => {
  await showToQemu(source, "source", await issue("source"));
  await showToQemu(target, "target", await issue("target"));
  const seen = await migrate();
  expect(await target.virsh("domstate", "vm1")).toBe("running");
  expect(await source.virsh("list", "--all", "--name")).toBe("");
  expect(await bootIdOf(target)).toBe(bootId);
  // Migration's own connection and the two of multifd.
  expect(seen.length).toBe(3);
  const handshake = 0x16;
  for (const first of seen) expect(first).toBe(handshake);
});

function newAuthority(): Promise<CertificateAuthority> {
  const store = { read: async () => undefined, swap: async () => true };
  return CertificateAuthority.open({ store, trustDomain: "lab" });
}

async function issue(side: MigrationSide): Promise<Credentials> {
  return await authority.issue(migrationIdentity(uid, side));
}

/** A libvirtd whose QEMU encrypts, with a directory that it sees at {@link shared}. */
async function startNode(hostname: string): Promise<Libvirtd> {
  const daemon = await startLibvirtd({ hostname });
  for (const name of ["shared", "tls"]) {
    await mkdir(`${daemon.directory}/${name}`);
    await chown(`${daemon.directory}/${name}`, user, user);
  }
  const mount = `mkdir -p ${shared} && mount --bind ${daemon.directory}/shared ${shared}`;
  await daemon.runAsRoot("sh", "-c", mount);
  const settings = `migrate_tls_x509_cert_dir = "${daemon.directory}/tls"\nmigrate_tls_x509_verify = 1\n`;
  await appendFile(`${daemon.directory}/etc/libvirt/qemu.conf`, settings);
  await daemon.kill("TERM");
  await daemon.restart();
  return daemon;
}

async function showToQemu(
  { directory }: Libvirtd,
  side: MigrationSide,
  credentials: Credentials,
): Promise<void> {
  for (const { name, content } of qemuTlsFiles(credentials, side)) {
    const file = `${directory}/tls/${name}`;
    await rm(file, { force: true });
    await writeFile(file, content, { mode: 0o600 });
    await chown(file, user, user);
  }
}

/**
 * Moves the guest through a pair of proxies. Gives the first byte that each data stream brought to the target.
 * Peer-to-peer, as nobody here has to decide who goes on: only the streams are of interest.
 */
async function migrate(): Promise<number[]> {
  const firstBytes: number[] = [];
  const dial = async (name: keyof typeof channels): Promise<Socket> => {
    const file = name === "libvirt" ? target.socket : `${target.directory}/shared/memory`;
    const socket = connect({ path: file, allowHalfOpen: true });
    await once(socket, "connect");
    if (name === "memory") noteFirstByte(socket, firstBytes);
    return socket;
  };
  const names = ["libvirt", "memory"] as const;
  const targetProxy = await startTargetProxy({
    uid,
    credentials: await issue("target"),
    address: "127.0.0.1",
    channels: names.map((name) => ({ name, kind: channels[name], dial: () => dial(name) })),
  });
  const { controlPort, dataPort } = targetProxy;
  const listeners = [];
  for (const name of names) {
    const file = `${source.directory}/shared/${name}`;
    await rm(file, { force: true });
    listeners.push({ name, kind: channels[name], listener: listenUnix(file, { mode: 0o666 }) });
  }
  const sourceProxy = await startSourceProxy({
    uid,
    credentials: await issue("source"),
    target: { host: "127.0.0.1", controlPort, dataPort },
    channels: listeners,
  });
  proxies = [sourceProxy, targetProxy];
  await source.virsh(
    ...["migrate", "--live", "--p2p", "--persistent", "--undefinesource", "--unsafe"],
    ...["--tls", "--tls-destination", uid, "--parallel", "--parallel-connections", "2"],
    ...["--migrateuri", `unix://${shared}/memory`],
    ...["vm1", `qemu+unix:///session?socket=${shared}/libvirt`],
  );
  return firstBytes;
}

/** What the proxy writes passes by here. */
function noteFirstByte(socket: Socket, bytes: number[]): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let isFirst = true;
  socket.write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
    if (isFirst) bytes.push(Buffer.from(chunk)[0] ?? -1);
    isFirst = false;
    return write(chunk, ...rest);
  };
}

async function expectUnharmed(): Promise<void> {
  expect(await source.virsh("domstate", "vm1")).toBe("running");
  expect(await bootIdOf(source)).toBe(bootId);
  await expect.poll(() => target.virsh("list", "--all", "--name")).toBe("");
}

/** What tells a guest that went on from one that began anew; asked until its agent answers. */
async function bootIdOf(daemon: Libvirtd): Promise<string> {
  const found = await until(() => askForBootId(daemon).catch(() => undefined), {
    interval: 500,
    timeout: 120_000,
  });
  if (found === undefined) throw new Error("the guest's agent has not answered in 2 minutes");
  return found;
}

async function askForBootId(daemon: Libvirtd): Promise<string | undefined> {
  const ask = async (execute: string, args: object): Promise<Record<string, unknown>> => {
    const command = JSON.stringify({ execute, arguments: args });
    return JSON.parse(await daemon.virsh("qemu-agent-command", "vm1", command)).return;
  };
  const program = { path: "/bin/sh", arg: ["-c", "cat /proc/sys/kernel/random/boot_id"] };
  const { pid } = await ask("guest-exec", { ...program, "capture-output": true });
  const ended = await until(
    async () => {
      const status = await ask("guest-exec-status", { pid });
      return status["exited"] === true && status;
    },
    { interval: 50, timeout: 10_000 },
  );
  return ended && Buffer.from(String(ended["out-data"]), "base64").toString();
}
