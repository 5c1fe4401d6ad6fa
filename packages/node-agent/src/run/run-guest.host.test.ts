import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clusterConfig } from "@virtkit/api/config";
import { firstOpenHandoff, handoffs } from "@virtkit/api/timeline";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { createPod, type PodFixture } from "@virtkit/lab";
import { afterAll, expect, test } from "vitest";
import { RunClaims } from "../claims/run-claims.ts";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { startFakeLauncher } from "../testing/fake-launcher.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { readTrace } from "../trace/trace.ts";
import { runGuest } from "./run-guest.ts";
import { stopGuest } from "./stop-guest.ts";

afterAll(stopNamespaceHelper);

const vmi = sampleVmi([{ name: "root", containerDisk: { image: "x" } }]);
const uid = vmi.metadata?.uid ?? "";
const environment = {
  config: clusterConfig({ developerConfiguration: { useEmulation: true } }),
};

function open(pod: PodFixture): Sandbox & Disposable {
  return openSandbox({
    podUid: pod.podUid,
    pid: pod.pid,
    containers: { root: { root: openRoot(join(pod.directory, "root")) } },
  });
}

async function until(what: string, look: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!look()) {
    if (Date.now() > deadline) throw new Error(`not in a minute: ${what}`);
    await sleep(20);
  }
}

test("a guest is run, followed over a lost connection, found again, stopped, and nothing is left", async () => {
  await using pod = await createPod({ "root/disk/disk.img": "image".repeat(200) });
  const before = pod.state();
  const { stateDirectory } = pod;
  using sandbox = open(pod);
  {
    await using launcher = await startFakeLauncher(pod, uid);
    const states: string[] = [];
    const options = {
      stateDirectory,
      environment,
      onStatus: ({ state }: { state: string }) => states.push(state),
    };
    await using guest = await runGuest(vmi, sandbox, options);
    expect(guest.mayRun.grant).toEqual({ vmiUid: uid, podUid: pod.podUid, epoch: 1 });
    const [request] = launcher.requests;
    expect(request).toMatchObject({
      mayRun: { grant: { epoch: 1 } },
      context: {
        disksInfo: { root: { format: "raw", "virtual-size": 1000 } },
        hypervisorDeviceAvailable: false,
        allowEmulation: true,
      },
      pod: { podLinks: { tap0: { mtu: 1500 } } },
    });
    expect(launcher.handedOver).toMatchObject([
      { network: "default", sockets: ["dhcp4"], identity: { hostname: "vm" } },
    ]);
    const timeline = (): string[] =>
      handoffs({ vmi, trace: readTrace(stateDirectory, uid) })
        .filter(({ state }) => state === "done")
        .map(({ stage }) => stage);
    await until("the trace is written", () => timeline().includes("ready"));
    expect(timeline()).toEqual([
      ...["admitted", "launcher-ready", "prepared", "network-bound", "claimed"],
      ...["domain-defined", "guest-running", "ready"],
    ]);
    launcher.disconnect();
    launcher.become({ agent: "connected" });
    await until("the guest is followed again", () => timeline().includes("agent-connected"));

    // An agent that starts over finds all as it is.
    await using again = await runGuest(vmi, sandbox, { stateDirectory, environment });
    expect(again.mayRun.grant.epoch).toBe(1);
    expect(launcher.handedOver).toHaveLength(1);

    launcher.obeys = false;
    await stopGuest(vmi, sandbox, { stateDirectory, gracePeriod: 0.5 });
    expect(launcher.calls.filter((verb) => verb !== "syncVmi")).toEqual([
      "shutdown",
      "kill",
      "delete",
    ]);
    await stopGuest(vmi, sandbox, { stateDirectory });
    expect(states).toContain("Running");
  }
  expect(pod.state()).toBe(before);
  expect(readdirSync(join(stateDirectory, "pods"))).toEqual([]);
  await pod.kill();
  new RunClaims(stateDirectory).forget({ namespace: "default", name: "vm" });
});

test("a second sandbox does not get the guest while the first one runs", async () => {
  await using first = await createPod({ "root/disk/disk.img": "image" });
  await using second = await createPod({ "root/disk/disk.img": "image" });
  const { stateDirectory } = first;
  using one = open(first);
  using two = open(second);
  await using ends = await startFakeLauncher(first, uid);
  await using launcher = await startFakeLauncher(second, uid);
  await using guest = await runGuest(vmi, one, { stateDirectory, environment });
  await expect(runGuest(vmi, two, { stateDirectory, environment })).rejects.toMatchObject({
    code: "AGENT_CLAIM_HELD",
  });
  expect(launcher.calls).toEqual([]);
  expect(readTrace(stateDirectory, uid).filter(({ state }) => state === "failed")).toMatchObject([
    {
      stage: "claimed",
      message: expect.stringContaining(`process ${first.pid} of Pod ${first.podUid} holds claim 1`),
    },
  ]);
  await first.kill();
  // A real one's connections end with its process.
  ends.disconnect();
  await guest.ended;
  await using later = await runGuest(vmi, two, { stateDirectory, environment });
  expect(later.mayRun.grant).toMatchObject({ podUid: second.podUid, epoch: 2 });
});

test("a launcher that does not answer does not prove that its guest has ended", async () => {
  await using pod = await createPod({ "root/disk/disk.img": "image" });
  const { stateDirectory, podUid } = pod;
  using sandbox = open(pod);
  {
    await using _ = await startFakeLauncher(pod, uid);
    await using guest = await runGuest(vmi, sandbox, { stateDirectory, environment });
    expect(guest.status.state).toBe("Running");
  }
  await expect(
    stopGuest(vmi, sandbox, { stateDirectory, readyTimeout: 200 }),
  ).rejects.toMatchObject({ code: "AGENT_TIMEOUT" });
  expect(existsSync(join(stateDirectory, "pods", podUid))).toBe(true);
  expect(pod.run("ip -o link show tap0")).toContain("tap0");
  await pod.kill();
  await stopGuest(vmi, sandbox, { stateDirectory });
  expect(existsSync(join(stateDirectory, "pods", podUid))).toBe(false);
});

/** What a person is told of a start that failed: the stage, and why. */
function whyNot(stateDirectory: string): readonly [stage: string | undefined, reason: string] {
  const list = handoffs({ vmi, trace: readTrace(stateDirectory, uid) });
  const open = firstOpenHandoff(list);
  expect(open?.state).toBe("failed");
  return [open?.stage, open?.reason ?? ""];
}

test("a start fails at a launcher that is not ready or belongs to another VMI", async () => {
  await using pod = await createPod({ "root/disk/disk.img": "image" });
  const { stateDirectory } = pod;
  using sandbox = open(pod);
  const options = { stateDirectory, environment, readyTimeout: 100 };
  const launcherReady = (words: string) => ["launcher-ready", expect.stringContaining(words)];
  await expect(runGuest(vmi, sandbox, options)).rejects.toMatchObject({ code: "AGENT_TIMEOUT" });
  expect(whyNot(stateDirectory)).toEqual(launcherReady("not ready"));
  await using _ = await startFakeLauncher(pod, "another");
  await expect(runGuest(vmi, sandbox, options)).rejects.toMatchObject({ code: "AGENT_LAUNCHER" });
  expect(whyNot(stateDirectory)).toEqual(launcherReady("another"));
});

const image = { "root/disk/disk.img": "image" };
const unwireable = sampleVmi([{ name: "root", containerDisk: { image: "x" } }], ({ spec }) => {
  spec.networks?.push({ name: "second", multus: { networkName: "missing" } });
  spec.domain.devices.interfaces?.push({ name: "second", bridge: {} });
});
const noClaim = async (): Promise<never> => {
  throw new Error("node-2 has it");
};

test.each([
  ["no image", { "root/disk/a": "1", "root/disk/b": "2" }, {}, "prepared", "more than one file"],
  ["no link in the Pod", image, { vmi: unwireable }, "network-bound", "step network"],
  ["a claim that is refused", image, { claim: noClaim }, "claimed", "node-2 has it"],
  ["libvirt", image, { failsAt: "domain-defined" }, "domain-defined", "no domain-defined today"],
  ["QEMU", image, { failsAt: "guest-running" }, "guest-running", "no guest-running today"],
] as const)("why a guest does not start: %s", async (_, files, given, stage, words) => {
  await using pod = await createPod(files);
  const { stateDirectory } = pod;
  using sandbox = open(pod);
  await using launcher = await startFakeLauncher(pod, uid);
  const { failsAt, claim, vmi: tried = vmi } = given as Attempt;
  if (failsAt) launcher.failsAt = failsAt;
  const options = { stateDirectory, environment, ...(claim ? { claim } : {}) };
  await expect(runGuest(tried, sandbox, options)).rejects.toThrow(words);
  expect(whyNot(stateDirectory)).toEqual([stage, expect.stringContaining(words)]);
});

interface Attempt {
  readonly failsAt?: "domain-defined" | "guest-running";
  readonly claim?: () => Promise<never>;
  readonly vmi?: typeof vmi;
}
