import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { createPod, type PodFixture } from "@virtkit/lab";
import { afterAll, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { prepare } from "./prepare.ts";
import { teardown } from "./teardown.ts";

afterAll(stopNamespaceHelper);

const config = clusterConfig({
  spec: { configuration: { developerConfiguration: { useEmulation: true } } },
});
const vmi = sampleVmi([{ name: "root", containerDisk: { image: "x" } }], ({ spec }) => {
  spec.domain.firmware = { kernelBoot: { container: { image: "x", kernelPath: "/vmlinuz" } } };
});
const files = { "root/disk/disk.img": "image", "boot/vmlinuz": "kernel" };

function open({ podUid, pid, directory }: PodFixture): Sandbox & Disposable {
  return openSandbox({
    podUid,
    pid,
    containers: { root: { root: openRoot(join(directory, "root")) } },
    kernelBoot: { root: openRoot(join(directory, "boot")) },
  });
}

/** Runs an agent that is killed at its n-th mark. */
function killedAgent(verb: "prepare" | "teardown", pod: PodFixture, mark: number): void {
  const script = new URL("../testing/prepare-child.mjs", import.meta.url).pathname;
  const { podUid, pid, directory, stateDirectory } = pod;
  const place = JSON.stringify({ podUid, pid, directory, stateDirectory, vmi });
  const { signal, stderr } = spawnSync(process.execPath, [script, verb, place, String(mark)]);
  expect(signal, String(stderr)).toBe("SIGKILL");
}

/** Marks of an undisturbed run, by what they are about. */
async function marksOf(run: (mark: (name: string) => void) => Promise<unknown>): Promise<string[]> {
  const marks: string[] = [];
  await run((name) => marks.push(name));
  return marks;
}

/** The kernel draws MACs, and hands out numbers, anew each time. */
function comparable(state: string): string {
  return state
    .replaceAll(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/g, "MAC")
    .replaceAll(/fe80::\S+/g, "fe80::")
    .replaceAll(/^\d+: /gm, "")
    .split("\n")
    .sort()
    .join("\n");
}

/**
 * Each step of ours before and after it is carried out, those that leave nothing behind excepted; of the
 * network's many, which have tests of their own, the first and the middle. Each costs a process.
 */
function chosen(marks: readonly string[]): number[] {
  const wiring = marks.flatMap((name, at) => (name === "wiring" ? [at] : []));
  const some = [0, Math.floor(wiring.length / 2)].map((at) => wiring[at]);
  const left = /^(begun|carried-out|(undoing|undone) (?!device)) ?/;
  return marks.flatMap((name, at) => (left.test(name) || some.includes(at) ? [at + 1] : []));
}

/** Dozens of processes, on a host that may be busy: a guard against hanging. */
const timeout = 400_000;

test(
  "a prepare that is killed at any step is finished by the next run, and undone by teardown",
  async () => {
    await using pod = await createPod(files);
    using sandbox = open(pod);
    const options = { stateDirectory: pod.stateDirectory, config };
    const before = comparable(pod.state());
    const marks = await marksOf((mark) =>
      prepare(vmi, sandbox, {
        ...options,
        wiring: { onOperation: () => mark("wiring") },
        onProgress: (progress) => mark(`${progress.mark} ${progress.step.id}`),
      }),
    );
    const prepared = comparable(pod.state());
    await teardown(pod.podUid, { ...options, sandbox });
    expect(comparable(pod.state())).toBe(before);
    const undone = async (where: string): Promise<void> => {
      await teardown(pod.podUid, { ...options, sandbox });
      expect(comparable(pod.state()), `undone ${where}`).toBe(before);
      expect(existsSync(join(pod.stateDirectory, "pods", pod.podUid)), where).toBe(false);
    };
    for (const mark of chosen(marks)) {
      const where = `after mark ${mark}, ${marks[mark - 1]}`;
      killedAgent("prepare", pod, mark);
      await prepare(vmi, sandbox, options);
      expect(comparable(pod.state()), `finished ${where}`).toBe(prepared);
      await undone(where);
      // Without being finished first: where something was done that the journal does not call done.
      if (!/^(carried-out|wiring)/.test(marks[mark - 1] ?? "")) continue;
      killedAgent("prepare", pod, mark);
      await undone(where);
    }
  },
  timeout,
);

test(
  "a teardown that is killed at any step is finished by the next one, and a later prepare starts anew",
  async () => {
    await using pod = await createPod(files);
    using sandbox = open(pod);
    const options = { stateDirectory: pod.stateDirectory, config };
    const before = comparable(pod.state());
    await prepare(vmi, sandbox, options);
    const prepared = comparable(pod.state());
    const marks = await marksOf((mark) =>
      teardown(pod.podUid, {
        ...options,
        sandbox,
        wiring: { onOperation: () => mark("wiring") },
        onProgress: (progress) => mark(`${progress.mark} ${progress.step.id}`),
      }),
    );
    for (const mark of chosen(marks)) {
      await prepare(vmi, sandbox, options);
      killedAgent("teardown", pod, mark);
      const where = `after mark ${mark}, ${marks[mark - 1]}`;
      if (marks[mark - 1]?.startsWith("undone")) {
        await prepare(vmi, sandbox, options);
        expect(comparable(pod.state()), `prepared anew ${where}`).toBe(prepared);
      }
      await teardown(pod.podUid, { ...options, sandbox });
      expect(comparable(pod.state()), `undone ${where}`).toBe(before);
    }
  },
  timeout,
);
