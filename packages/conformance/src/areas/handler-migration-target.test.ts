import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { withoutWords } from "../recorded/compare-answers.ts";
import { type RecordedCase, recordedCases } from "../recorded/recorded-cases.ts";
import {
  type TargetPassContext,
  type TargetPassInput,
  targetPasses,
} from "./handler-migration-target.ts";

/** Cases that are not answered, by the reason. */
const gaps: Readonly<Record<string, readonly string[]>> = {
  "CPUs and memory are plugged in by the node agent, which knows what the Pod was given.": [
    "tgt-finalize-cpu-and-memory",
    "tgt-finalize-cpu-dedicated-limit-bad",
    "tgt-finalize-cpu-dedicated-limit-enough",
    "tgt-finalize-cpu-dedicated-limit-missing",
    "tgt-finalize-cpu-dedicated-limit-too-small",
    "tgt-finalize-cpu-hotplug-fails",
    "tgt-finalize-memory-binding-overhead-counts",
    "tgt-finalize-memory-hotplug",
    "tgt-finalize-memory-hotplug-fails",
    "tgt-finalize-memory-label-bad",
    "tgt-finalize-memory-no-memory-status",
    "tgt-finalize-memory-recorded-overhead-too-big",
    "tgt-finalize-memory-request-too-small",
  ],
  "Which CPUs the guest gets is read from the cgroup of the Pod.": [
    "tgt-prepared-dedicated-cpus",
    "tgt-prepared-dedicated-cpus-cpuset-bad",
    "tgt-prepared-dedicated-cpus-cpuset-fails",
  ],
  "KubeVirt asks for the launcher though there is nothing to tell it.": [
    "tgt-abort-not-decentralized-launcher-gone",
  ],
  "KubeVirt crashes where nothing is known of the launcher; here it is a step that fails.": [
    "tgt-prepare-no-client-info",
  ],
};

interface ExpectedPass {
  readonly events?: readonly string[];
  readonly requeue?: readonly (string | { readonly afterSeconds: number })[];
  readonly written?: {
    readonly status: VirtualMachineInstance["status"];
    readonly labels?: object;
    readonly annotations?: object;
  };
}

const cases = recordedCases("handler-migration").filter(({ fn }) => fn === "target-pass");

function differs({ input, context, expected }: RecordedCase): boolean {
  const given = input as TargetPassInput;
  const answers = targetPasses(given, context as TargetPassContext);
  const { passes = [expected] } = expected as { readonly passes?: readonly unknown[] };
  let before = given.vmi ?? given.steps?.[0]?.vmi;
  return passes.some((pass, at) => {
    const answer = answers[at];
    const { events = [], requeue = [] } = answer ?? {};
    const ours: unknown = JSON.parse(
      JSON.stringify({ ...seen(answer?.vmi), events, ...again(requeue) }),
    );
    const wanted = expectedOf(pass as ExpectedPass, before);
    before = answer?.vmi;
    return !isDeepStrictEqual(withoutWords(ours), withoutWords(wanted));
  });
}

/** KubeVirt writes the VMI at every pass, changed or not: what it is afterwards is compared. */
function expectedOf(
  { written, events = [], requeue = [] }: ExpectedPass,
  before: VirtualMachineInstance | undefined,
): object {
  const vmi = seen(before && { ...before, ...(written && { status: written.status ?? {} }) });
  const { labels, annotations } = written ?? {};
  const times = requeue.map((one) => (typeof one === "string" ? one : one.afterSeconds));
  return {
    ...vmi,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    events,
    ...again(times),
  };
}

/** Asking twice for the same is asking once. */
const again = (times: readonly unknown[]): object => ({ requeue: [...new Set(times)] });

/** As it is recorded: without the times and words of conditions. */
function seen(vmi: VirtualMachineInstance | undefined): object {
  const { labels = {}, annotations = {} } = vmi?.metadata ?? {};
  const conditions = (vmi?.status?.conditions ?? []).map(({ type, status, reason }) => ({
    type,
    status,
    ...(reason && { reason }),
  }));
  conditions.sort((a, b) => (a.type < b.type ? -1 : 1));
  return { status: { ...vmi?.status, conditions }, labels, annotations };
}

test("what a pass of a migration's target makes of the VMI is KubeVirt's in every case but those that are listed", () => {
  const different = cases.filter(differs).map(({ name }) => name);
  expect(different.sort()).toEqual(Object.values(gaps).flat().sort());
});

test("the README says how many are equal", () => {
  const equal = cases.length - Object.values(gaps).flat().length;
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const sentence = `${equal} of the ${cases.length} cases of \`target-pass\``;
  expect(readme.replace(/\s+/g, " ")).toContain(sentence);
});
