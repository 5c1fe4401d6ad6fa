import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bindPublished, closeBound } from "./bind-published.ts";
import { localProcesses } from "./local-cgroup.ts";
import { isAlive, type LocalSandbox, removeLocalSandbox } from "./local-sandbox.ts";
import type { PublishedPort } from "./published-port.ts";
import { askFrom, createLab, createPod, lab, removeLab, serveIn } from "./testing/network-lab.ts";

const uid = (digit: number): string => `${digit}6161616-90a1-4c3e-8d52-0d3b1c5a9e11`;
const port = 28_525;
const tcp = (host: number, address?: string): PublishedPort => ({
  ...{ protocol: "tcp", host, guest: port },
  ...(address === undefined ? {} : { address }),
});
const published: readonly PublishedPort[] = [
  tcp(28_530),
  { protocol: "udp", host: 28_530, guest: port },
  tcp(28_531, lab.host),
  tcp(28_532, "0.0.0.0"),
  tcp(28_533, lab.host6),
  tcp(28_534, "::"),
];
const reached = expect.stringMatching(/^reached from /);
const refused = "ECONNREFUSED";

let stateDirectory: string;
let guest: LocalSandbox;
let neighbour: LocalSandbox;
let open: LocalSandbox;
let server: ChildProcess;

beforeAll(async () => {
  stateDirectory = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  await createLab();
  guest = await createPod({ stateDirectory, podUid: uid(1), published });
  neighbour = await createPod({ stateDirectory, podUid: uid(2) });
  open = await createPod({ stateDirectory, podUid: uid(3), network: "open" });
  server = await serveIn(guest.names.networkNamespace, port);
});

afterAll(async () => {
  server?.kill("SIGKILL");
  for (const digit of [1, 2, 3, 4]) await removeLocalSandbox(stateDirectory, uid(digit));
  await removeLab();
  await rm(stateDirectory, { recursive: true, force: true });
});

test("a port published without an address is open only on loopback, both families", async () => {
  for (const protocol of ["tcp", "udp"] as const) {
    expect(await askFrom(undefined, "127.0.0.1", 28_530, { protocol })).toEqual(reached);
    expect(await askFrom(undefined, "::1", 28_530, { protocol })).toEqual(reached);
  }
  for (const address of [lab.host, lab.host6]) {
    expect(await askFrom(lab.namespace, address, 28_530)).toBe(refused);
    expect(await askFrom(undefined, address, 28_530)).toBe(refused);
  }
});

test("a port published on an address is open to the outside, by IPv4 and IPv6", async () => {
  for (const [address, host] of [
    [lab.host, 28_531],
    [lab.host, 28_532],
    [lab.host6, 28_533],
    [lab.host6, 28_534],
  ] as const) {
    expect(await askFrom(lab.namespace, address, host)).toEqual(reached);
  }
  // `::` means IPv6 without IPv4.
  expect(await askFrom(lab.namespace, lab.host, 28_534)).toBe(refused);
});

test("another guest, even an open one, reaches a port on all addresses but not one on loopback", async () => {
  const ask = async (pod: LocalSandbox, host: number): Promise<string> =>
    await askFrom(pod.names.networkNamespace, pod.network.hostAddress, host);
  expect(await ask(open, 28_530)).toBe(refused);
  expect(await ask(open, 28_532)).toEqual(reached);
  expect(await ask(neighbour, 28_532)).toBe("silence");
});

test("the forwarder has dropped root and cannot regain it", () => {
  const [status = ""] = localProcesses(guest.names.cgroup)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("virtkit-forward-ports"))
    .map((pid) => readFileSync(`/proc/${pid}/status`, "utf8"));
  expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
  expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m);
  expect(status).toMatch(/^Groups:\t\s*$/m);
  expect(status).toMatch(/^CapEff:\t0+$/m);
  expect(status).toMatch(/^CapPrm:\t0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  expect(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])).toBeLessThan(96 * 1024);
});

test("rejects a port that another guest has published", async () => {
  await expect(bindPublished([tcp(28_530)])).rejects.toThrow(
    "127.0.0.1:28530 of this host is in use",
  );
  await expect(bindPublished([tcp(28_532, "127.0.0.1")])).rejects.toThrow("is in use");
  await expect(
    createPod({ stateDirectory, podUid: uid(4), published: [tcp(28_530)] }),
  ).rejects.toMatchObject({ code: "AGENT_ARGUMENT", path: "publish" });
  expect(isAlive(stateDirectory, uid(4))).toBe(false);
});

test("rejects a port in use, on ::1 as well, and an address that is not the host's", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "::1", resolve));
  const { port: taken } = other.address() as { port: number };
  await expect(bindPublished([tcp(taken)])).rejects.toThrow(
    `[::1]:${taken} of this host is in use`,
  );
  await new Promise((resolve) => other.close(resolve));
  await closeBound(await bindPublished([tcp(taken)]));
  await expect(bindPublished([tcp(taken, "192.0.2.77")])).rejects.toThrow(
    "192.0.2.77 is not an address of this host",
  );
});

test("closes its ports when the launcher ends, without anyone's help", async () => {
  process.kill(guest.pid, "SIGKILL");
  while (isAlive(stateDirectory, uid(1))) await sleep(20);
  for (const address of ["127.0.0.1", "::1"]) {
    expect(await askFrom(undefined, address, 28_530)).toBe(refused);
  }
});
