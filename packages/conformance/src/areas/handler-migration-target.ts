import { isDeepStrictEqual } from "node:util";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { domainAttachments } from "@virtkit/api/network";
import { type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { kubevirtLauncherProfile, memoryOverhead } from "@virtkit/launcher-pod";
import {
  cleanedUp,
  finalized,
  type HotChange,
  isBlockMigration,
  planHotChanges,
  planTargetStep,
  type TargetStatusFacts,
  type TargetStep,
  targetStatus,
  withHotChanges,
} from "@virtkit/migration/target/agent";
import {
  migratingDomainOf,
  type RecordedDomain,
  recordedStatus,
} from "./handler-migration-source.ts";
import { mergePatch } from "./merge-patch.ts";
import { eventLines } from "./migration-source-form.ts";
import { recordedNumaCells } from "./recorded-numa-cells.ts";

interface RecordedPass {
  readonly vmi?: VirtualMachineInstance;
  readonly vmiPatch?: object;
  readonly domain?: RecordedDomain;
  readonly advanceSeconds?: number;
}

/** The input of a case: one pass, or several. */
export type TargetPassInput = RecordedPass & { readonly steps?: readonly RecordedPass[] };

/** The context of a case: when it is, what listens, and what fails. */
export interface TargetPassContext {
  readonly now: string;
  readonly configuration?: object;
  readonly migrationProxy?: {
    readonly targetPorts?: Readonly<Record<string, number>>;
    readonly startError?: boolean;
  };
  readonly migrationAddress?: string;
  readonly writeUnseen?: boolean;
  readonly vmiUpdate?: string;
  readonly launcher?: {
    readonly state?: string;
    readonly connected?: boolean;
    readonly info?: boolean;
    readonly errors?: Readonly<Record<string, string>>;
  };
  readonly failingHooks?: Readonly<Record<string, boolean>>;
  readonly containerDisks?: {
    readonly ready?: boolean;
    readonly readyError?: unknown;
    readonly mountError?: unknown;
    readonly unmountError?: unknown;
  };
  readonly hotplug?: { readonly mountError?: string };
  readonly networkSetup?: string;
  readonly adjustResourcesError?: unknown;
  readonly missingKvmDevice?: unknown;
  readonly bindingMemoryOverhead?: string;
  readonly cpuSet?: string;
  readonly numaCells?: readonly number[];
}

/** The result of each pass of a target, in the recorded form. */
export function targetPasses(
  { steps, ...only }: TargetPassInput,
  context: TargetPassContext,
): readonly object[] {
  const target = new TargetNode(context);
  return (steps ?? [only]).map((pass) => target.pass(pass));
}

/** How a step went: the VMI afterwards, its calls, and whether it failed or must be repeated. */
interface StepResult {
  readonly vmi: VirtualMachineInstance | undefined;
  readonly calls: readonly object[];
  readonly failure?: "failed" | "waits" | undefined;
  readonly events?: readonly string[];
}

/** What the target reports about itself; without the VMI if it does not know its CPUs. */
interface Report {
  readonly vmi?: VirtualMachineInstance;
  readonly events: readonly string[];
  readonly requeueSeconds?: number | undefined;
}

/** After these the target says how it is. */
const reported: ReadonlySet<string> = new Set(["none", "wait", "prepare", "finalize"]);

const changeCalls: Readonly<Record<HotChange, string>> = {
  cpus: "SyncVirtualMachineCPUs",
  memory: "SyncVirtualMachineMemory",
};

/** The target's node of a case, over its passes. */
class TargetNode {
  readonly #context: TargetPassContext;
  readonly #config: ClusterConfig;
  #vmi: VirtualMachineInstance | undefined;
  #now: number;
  #ports: Readonly<Record<string, number>> | undefined;

  constructor(context: TargetPassContext) {
    this.#context = context;
    this.#config = clusterConfig(context.configuration ?? {});
    this.#now = Date.parse(context.now);
    this.#ports = context.migrationProxy?.targetPorts;
  }

  pass(given: RecordedPass): object {
    this.#now += (given.advanceSeconds ?? 0) * 1000;
    const before =
      given.vmi ?? (mergePatch(this.#vmi, given.vmiPatch) as VirtualMachineInstance | undefined);
    this.#vmi = before;
    const { names } = this.#config;
    const facts = {
      node: "node02",
      domain: migratingDomainOf(given.domain),
      now: this.#now,
      names,
    };
    const { step, vmi, events } = planTargetStep(this.#context.writeUnseen ? undefined : before, {
      ...facts,
      isListening: this.#ports !== undefined,
    });
    const done = this.#carryOut(step, vmi);
    const reports = done.vmi && reported.has(step.step) && !isBroken(step, done.vmi);
    const status = done.vmi && reports ? this.#report(done.vmi, facts) : undefined;
    const after = status ? status.vmi : this.#settled(step, done);
    this.#vmi = after ?? before;
    return {
      launcher: done.calls,
      events: [...eventLines(events), ...(done.events ?? []), ...(status?.events ?? [])],
      requeue: this.#requeue(step, done, status),
      ...(after ? { written: writtenForm(before, after) } : {}),
      ...(forgets(step, done) && given.domain ? { domainForgotten: true } : {}),
    };
  }

  #requeue(step: TargetStep, done: StepResult, status: Report | undefined): readonly unknown[] {
    const isUnplaced = status !== undefined && status.vmi === undefined;
    const isRefused = status?.vmi !== undefined && this.#context.vmiUpdate === "conflict";
    const hasFailed = done.failure === "failed" || step.step === "forget-domain";
    return [
      ...(step.step === "wait" ? [{ afterSeconds: step.seconds }] : []),
      ...(done.failure === "waits" ? waitsTwice(this.#context) : []),
      ...(status?.requeueSeconds === undefined ? [] : [{ afterSeconds: status.requeueSeconds }]),
      ...(hasFailed || isUnplaced || isRefused ? ["rateLimited"] : []),
    ];
  }

  /** A successful clean-up is written; a failed one is not. */
  #settled(step: TargetStep, { vmi, failure }: StepResult): VirtualMachineInstance | undefined {
    return step.step === "clean-up" && !failure ? vmi : undefined;
  }

  #carryOut(step: TargetStep, vmi: VirtualMachineInstance | undefined): StepResult {
    if (!vmi) return { vmi, calls: [] };
    switch (step.step) {
      case "prepare":
        return this.#prepare(vmi);
      case "finalize":
        return this.#finalize(vmi);
      case "clean-up":
        return this.#cleanUp(vmi, step.failed);
      default:
        return { vmi, calls: [] };
    }
  }

  #prepare(vmi: VirtualMachineInstance): StepResult {
    const { containerDisks, hotplug, migrationProxy, launcher, adjustResourcesError } =
      this.#context;
    const events = ["Warning SyncFailed it failed"];
    if (launcher?.info === false) throw new Error("the launcher is unknown");
    if (this.#failsBeforeCall()) return { vmi, calls: [], failure: "failed", events };
    if (containerDisks?.ready === false) return { vmi, calls: [], failure: "waits" };
    if (hotplug?.mountError !== undefined) return { vmi, calls: [], failure: "failed", events };
    const attachments = domainAttachments(vmi, this.#config.networkBindings);
    const options =
      Object.keys(attachments).length > 0
        ? { options: { interfaceDomainAttachment: attachments } }
        : {};
    const calls = [{ call: "SyncMigrationTarget", ...options }];
    const fails =
      launcher?.errors?.["SyncMigrationTarget"] ||
      adjustResourcesError ||
      migrationProxy?.startError;
    if (fails) return { vmi, calls, failure: "failed", events };
    const copies = isBlockMigration(vmi);
    // The recorder's proxy takes ports in the order of the sockets.
    this.#ports = { "40001": 0, "40002": 49152, ...(copies && { "40003": 49153 }) };
    return { vmi, calls, events: ["Normal PreparingTarget the target is prepared"] };
  }

  #failsBeforeCall(): boolean {
    const { launcher, failingHooks, containerDisks, networkSetup, missingKvmDevice } =
      this.#context;
    return Boolean(
      launcher?.state === "error" ||
        launcher?.state === "unresponsive" ||
        launcher?.connected === false ||
        failingHooks?.["PreMigrationTarget"] ||
        containerDisks?.readyError ||
        containerDisks?.mountError ||
        networkSetup ||
        missingKvmDevice,
    );
  }

  #finalize(vmi: VirtualMachineInstance): StepResult {
    const { names } = this.#config;
    const errors = this.#context.launcher?.errors ?? {};
    const { changes, problems } = planHotChanges(vmi, {
      memoryOverhead: () => this.#overhead(vmi),
      names,
    });
    const failed = changes.filter((change) => errors[changeCalls[change]] !== undefined);
    const outcomes = Object.fromEntries(
      changes.map((change) => [change, failed.includes(change) ? "failed" : "done"]),
    );
    const events = [...problems, ...failed].map(() => "Warning <error text>");
    const calls = [
      ...changes.map((change) => ({ call: changeCalls[change] })),
      { call: "FinalizeVirtualMachineMigration" },
    ];
    const fails =
      errors["FinalizeVirtualMachineMigration"] ||
      this.#context.failingHooks?.["PostMigrationTarget"];
    if (fails) {
      return { vmi, calls, failure: "failed", events: [...events, "Warning SyncFailed it failed"] };
    }
    return { vmi: finalized(withHotChanges(vmi, outcomes), names), calls, events };
  }

  /** The Pod was rendered with the ratio in the VMI's label. */
  #overhead(vmi: VirtualMachineInstance): Quantity {
    const { configuration = {}, bindingMemoryOverhead } = this.#context;
    const { memoryHotplugOverheadRatio } = this.#config.names.labels;
    const additionalGuestMemoryOverheadRatio = vmi.metadata?.labels?.[memoryHotplugOverheadRatio];
    const ratio = additionalGuestMemoryOverheadRatio && { additionalGuestMemoryOverheadRatio };
    const config = clusterConfig({ ...configuration, ...ratio });
    const profile = kubevirtLauncherProfile({ image: "virt-launcher:v1" });
    const { total } = memoryOverhead(vmi, config, profile);
    return total.add(quantityFrom(bindingMemoryOverhead ?? "0"));
  }

  #cleanUp(vmi: VirtualMachineInstance, hasFailed: boolean): StepResult {
    const { launcher, containerDisks } = this.#context;
    const call = hasFailed ? "SignalTargetPodCleanup" : "FinalizeVirtualMachineMigration";
    const isGone = launcher?.connected === false;
    const calls = isGone ? [] : [{ call }];
    // A launcher that does not hear that it is to end is found by its node agent all the same.
    const fails = hasFailed ? containerDisks?.unmountError : isGone || launcher?.errors?.[call];
    if (fails) return { vmi, calls, failure: "failed" };
    return { vmi: cleanedUp(vmi, this.#config.names), calls };
  }

  #report(
    vmi: VirtualMachineInstance,
    facts: Omit<TargetStatusFacts, "listener" | "cpus">,
  ): Report {
    const address = this.#context.migrationAddress ?? "10.0.0.2";
    const listener = this.#ports && { listener: { address, ports: this.#ports } };
    const plain = targetStatus(vmi, { ...facts, ...listener });
    const known = { events: eventLines(plain.events), requeueSeconds: plain.requeueSeconds };
    const isPinned = vmi.spec.domain.cpu?.dedicatedCpuPlacement === true;
    const isPlaced = plain.vmi.status?.migrationState?.targetNodeAddress !== undefined;
    if (!isPinned || !isPlaced) return { ...known, vmi: plain.vmi };
    const cpuSet = cpusIn(this.#context.cpuSet ?? "");
    if (!cpuSet) return known;
    const cells = recordedNumaCells(this.#context.numaCells ?? []);
    const topology = JSON.stringify(cells.length > 0 ? { numa_cells: cells } : {});
    return {
      ...known,
      vmi: targetStatus(vmi, { ...facts, ...listener, cpus: { cpuSet, topology } }).vmi,
    };
  }
}

/** A copy that is kept because post-copy broke says nothing new. */
function isBroken({ step }: TargetStep, { status }: VirtualMachineInstance): boolean {
  const { completed, failed, endTimestamp } = status?.migrationState ?? {};
  return step === "wait" && endTimestamp !== undefined && Boolean(completed || failed);
}

/** Whether the node no longer keeps what it knows of the domain. */
function forgets(step: TargetStep, { failure }: StepResult): boolean {
  if (step.step === "clean-up") return step.failed && !failure;
  return step.step === "forget-domain";
}

/** KubeVirt requests another pass twice if it waits for container disks. */
function waitsTwice({ containerDisks }: TargetPassContext): readonly object[] {
  const again = { afterSeconds: 1 };
  return containerDisks?.ready === false ? [again, again] : [again];
}

/** CPUs in the kernel's list format: `0-3,8`. */
function cpusIn(list: string): readonly number[] | undefined {
  const ranges = list.split(",").map((range) => /^(\d+)(?:-(\d+))?$/.exec(range));
  if (ranges.includes(null)) return undefined;
  return ranges.flatMap((range) => {
    const first = Number(range?.[1]);
    const last = Number(range?.[2] ?? first);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** KubeVirt writes the VMI at every pass; labels and annotations are recorded where they changed. */
function writtenForm(
  before: VirtualMachineInstance | undefined,
  after: VirtualMachineInstance,
): { readonly status: VirtualMachineInstanceStatus; labels?: object; annotations?: object } {
  const { labels, annotations } = after.metadata ?? {};
  const isSame = (key: "labels" | "annotations"): boolean =>
    isDeepStrictEqual(before?.metadata?.[key] ?? {}, after.metadata?.[key] ?? {});
  return {
    status: recordedStatus(after.status ?? {}),
    ...(isSame("labels") ? {} : { labels: labels ?? {} }),
    ...(isSame("annotations") ? {} : { annotations: annotations ?? {} }),
  };
}
