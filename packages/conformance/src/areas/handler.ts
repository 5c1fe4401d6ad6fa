import { isDeepStrictEqual } from "node:util";
import { graceHostDeviceAliases } from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import { domainAttachments } from "@virtkit/api/network";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceCondition,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import { at, isSet, objects, text } from "@virtkit/api/shape";
import type { PlannedEvent } from "@virtkit/api/status";
import { withHostDisks } from "@virtkit/converter";
import {
  type BackupTracker,
  type NodePlan,
  type NodeStep,
  type NodeView,
  type PassMemory,
  planNode,
  type StepOutcome,
} from "@virtkit/node-agent/plan";
import type { BatchFunction } from "../batch/batch-area.ts";
import { guardVmis } from "./guard-vmis.ts";
import { calls, type HandlerContext, outcomeOf } from "./handler-context.ts";
import { type HandlerDomain, nodeDomain } from "./handler-domain.ts";
import { withoutNulls } from "./handler-nulls.ts";
import { checkHandlerCase } from "./handler-shape.ts";
import { mergePatch } from "./merge-patch.ts";
import { recordedNumaCells } from "./recorded-numa-cells.ts";
import { contextConfig, contextTime } from "./request-context.ts";

/** One pass: the VMI and its domain. */
interface HandlerPass {
  readonly vmi?: VirtualMachineInstance;
  /** A merge patch of the VMI as the last pass left it. */
  readonly vmiPatch?: object;
  readonly domain?: HandlerDomain | null;
  /** The clock advances by this before the pass. */
  readonly advanceSeconds?: number;
}

type HandlerInput = HandlerPass & {
  readonly host?: string;
  readonly steps?: readonly HandlerPass[];
};

/** The functions of area `handler`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "handler-pass": (input, context) => {
    checkHandlerCase(input, context);
    const { steps, host, ...only } = withoutNulls(Object(input)) as HandlerInput;
    const world = new Node(withoutNulls(Object(context)) as HandlerContext, host ?? "node01");
    if (!steps) return guarded(only, () => world.pass(only));
    return { passes: steps.map((step) => guarded(step, () => world.pass(step))) };
  },
};

function guarded<T>({ vmi, vmiPatch }: HandlerPass, run: () => T): T {
  return guardVmis({ ...(vmi ? { vmi } : {}), ...(vmiPatch ? { vmiPatch } : {}) }, run);
}

/** The node of a case, over its passes. */
class Node {
  readonly #context: HandlerContext;
  readonly #config: ClusterConfig;
  readonly #host: string;
  #now: number;
  #vmi: VirtualMachineInstance | undefined;
  #memory: PassMemory = {};
  /** The status before the pass. */
  #before: VirtualMachineInstanceStatus | undefined;

  constructor(context: HandlerContext, host: string) {
    this.#context = context;
    this.#config = contextConfig(context);
    this.#host = host;
    this.#now = contextTime(context) ?? 0;
  }

  pass(given: HandlerPass): object {
    this.#now += (given.advanceSeconds ?? 0) * 1000;
    this.#vmi =
      given.vmi ?? (mergePatch(this.#vmi, given.vmiPatch) as VirtualMachineInstance | undefined);
    const vmi = this.#vmi;
    const view = this.#view(given.domain ?? undefined);
    const outcomes: StepOutcome[] = [];
    let plan = planNode(view);
    for (let step = plan.steps[0]; step; step = plan.steps[outcomes.length]) {
      outcomes.push(outcomeOf(step, this.#context, vmi, this.#config));
      plan = planNode(view, outcomes);
    }
    this.#memory = plan.memory;
    const status = writtenStatus(plan);
    this.#before = vmi?.status;
    if (vmi && status && this.#context.vmiUpdate !== "conflict") this.#vmi = { ...vmi, status };
    return this.#answer(plan, outcomes, given.domain ?? undefined);
  }

  #view(domain: HandlerDomain | undefined): NodeView {
    const { launcher = {}, podInterfaces = {}, hotplug, files = {} } = this.#context;
    const uid = this.#vmi?.metadata?.uid ?? "";
    const states = { unresponsive: "ended", error: "unknown" } as const;
    const { state = "ready", connected = true, ping = true } = launcher;
    return {
      vmi: this.#vmi,
      // The cache keeps the UID of a domain that is gone.
      uid: domain?.uid ?? this.#context.ghostRecordUID,
      domain: domain && !domain.deleted ? nodeDomain(domain, uid) : undefined,
      launcher: {
        state: state === "unresponsive" || state === "error" ? states[state] : state,
        isConnected: connected,
        answers: connected && ping,
      },
      sandboxProblem: this.#context.isolationError ? "the sandbox was not found" : undefined,
      node: this.#host,
      config: this.#config,
      now: this.#now,
      isBehind: this.#context.writeUnseen ?? false,
      hostCpuModel: "Skylake",
      hostArchitecture: "amd64",
      podIps: Object.fromEntries(
        Object.entries(podInterfaces).map(([name, { podIPs = [] }]) => [name, podIPs]),
      ),
      mountedVolumes: hotplug?.mounted ?? [],
      fileSizes: Object.fromEntries(
        Object.entries(files).map(([path, size]) => [`/${path}`, size]),
      ),
      trackers: objects(this.#context.backupTrackers).map(trackerOf),
      memory: this.#memory,
    };
  }

  #answer(
    plan: NodePlan,
    outcomes: readonly StepOutcome[],
    domain: HandlerDomain | undefined,
  ): object {
    const written = writtenStatus(plan);
    const status = written && !isReworded(this.#before, written) ? written : undefined;
    const uid = this.#view(domain).uid ?? "";
    const isForgotten = plan.steps.some(
      (step, i) => step.do === "clean-up" && outcomes[i]?.kind === "done",
    );
    const otherWrites = plan.steps.flatMap((step) =>
      step.do === "mark-tracker" ? [markTracker(step.name)] : [],
    );
    return {
      launcher: plan.steps.flatMap((step) => this.#call(step, uid)),
      events: plan.events.map(eventLine),
      requeue: plan.requeue,
      ...(status ? { written: { status: recordedStatus(status) } } : {}),
      ...(isForgotten && domain && !(domain.deleted && this.#vmi) ? { domainForgotten: true } : {}),
      ...(otherWrites.length > 0 ? { otherWrites } : {}),
    };
  }

  #call(step: NodeStep, uid: string): object[] {
    const call = calls[step.do];
    if (call === undefined) return [];
    const vmi = this.#vmi;
    const options = step.do === "sync" && vmi ? this.#options(vmi) : {};
    const sent = vmi && withHostDisks(vmi).spec.volumes;
    const isChanged = JSON.stringify(sent) !== JSON.stringify(vmi?.spec.volumes);
    return [
      {
        call,
        ...(vmi ? {} : { uid }),
        ...(step.do === "memory-dump" ? { path: step.path } : {}),
        ...(step.do === "sync" && isChanged ? { volumes: sent } : {}),
        ...(Object.keys(options).length > 0 ? { options } : {}),
      },
    ];
  }

  /** What a launcher is told in addition to the VMI, if it is not the default. */
  #options(vmi: VirtualMachineInstance): object {
    const config = this.#config;
    const { smbios, memBalloonStatsPeriod: period } = config;
    const bios = withoutEmpty({ ...smbios });
    const settings = withoutEmpty({
      BochsDisplayForEFIGuests: !config.vgaDisplayForEfiGuests,
      FreePageReportingDisabled: config.freePageReportingDisabled,
      SerialConsoleLogDisabled: config.serialConsoleLogDisabled,
      PCINUMAAwareTopologyEnabled: config.gate("PCINUMAAwareTopology"),
      VGPULiveMigrationEnabled: config.gate("VGPULiveMigration"),
      GraceIOVirtualizationEnabled: config.gate("GraceIOVirtualization"),
    });
    const standard = { family: "KubeVirt", manufacturer: "KubeVirt", product: "None" };
    const attachments = domainAttachments(vmi, config.networkBindings);
    const preallocated = (vmi.status?.volumeStatus ?? []).flatMap((volume) =>
      volume.persistentVolumeClaimInfo?.preallocated ? [volume.name] : [],
    );
    const grace = graceHostDeviceAliases(vmi.spec, config);
    const numa = this.#context.numaCells;
    return {
      ...(period === 10 ? {} : { MemBalloonStatsPeriod: period || null }),
      ...(isSame(bios, standard) ? {} : { VirtualMachineSMBios: bios }),
      ...(isSame(settings, { BochsDisplayForEFIGuests: true }) ? {} : { clusterConfig: settings }),
      ...(Object.keys(attachments).length > 0 ? { interfaceDomainAttachment: attachments } : {}),
      ...(preallocated.length > 0 ? { PreallocatedVolumes: preallocated } : {}),
      ...(grace.length > 0 ? { GraceHostDeviceAliases: grace } : {}),
      ...(numa ? { topology: { numa_cells: recordedNumaCells(numa) } } : {}),
    };
  }
}

function isSame(a: object, b: object): boolean {
  const sorted = (o: object): string => JSON.stringify(Object.entries(o).sort());
  return sorted(a) === sorted(b);
}

function withoutEmpty(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Boolean(value)));
}

function trackerOf(tracker: unknown): BackupTracker {
  return {
    namespace: text(at(tracker, "metadata", "namespace")),
    name: text(at(tracker, "metadata", "name")),
    hasCheckpoint: isSet(at(tracker, "status", "latestCheckpoint")),
    isMarked: at(tracker, "status", "checkpointRedefinitionRequired") === true,
  };
}

function markTracker(name: string): object {
  return {
    body: { status: { checkpointRedefinitionRequired: true } },
    patch: `virtualmachinebackuptrackers/${name}`,
    subresource: "status",
  };
}

function writtenStatus({ steps }: NodePlan): VirtualMachineInstanceStatus | undefined {
  return steps.flatMap((step) => (step.do === "write-status" ? [step.status] : []))[0];
}

/** Whether two statuses differ only in why a VMI cannot be migrated: our sentences differ from KubeVirt's. */
function isReworded(
  before: VirtualMachineInstanceStatus | undefined,
  after: VirtualMachineInstanceStatus,
): boolean {
  return isDeepStrictEqual(withoutSentences(before ?? {}), withoutSentences(after));
}

function withoutSentences({ conditions = [], ...rest }: VirtualMachineInstanceStatus): object {
  const kept = conditions.map(({ message, ...condition }) =>
    /^(Storage)?LiveMigratable$/.test(condition.type) ? condition : { ...condition, message },
  );
  return { ...rest, conditions: kept.sort(byType) };
}

function eventLine({ type, reason }: PlannedEvent): string {
  return `${type} ${reason || "<no reason>"}`;
}

/** As it is recorded: without times and messages of conditions and volumes. */
function recordedStatus(status: VirtualMachineInstanceStatus): object {
  const { conditions = [], volumeStatus, selinuxContext: _, ...rest } = status;
  return {
    ...rest,
    ...(conditions.length > 0 ? { conditions: [...conditions].sort(byType).map(bare) } : {}),
    ...(volumeStatus?.length
      ? { volumeStatus: volumeStatus.map(({ message: __, ...volume }) => volume) }
      : {}),
  };
}

function byType(a: { readonly type: string }, b: { readonly type: string }): number {
  return a.type < b.type ? -1 : 1;
}

function bare({ type, status, reason = "" }: VirtualMachineInstanceCondition): object {
  return { type, status, ...(reason && !reason.includes(" ") ? { reason } : {}) };
}
