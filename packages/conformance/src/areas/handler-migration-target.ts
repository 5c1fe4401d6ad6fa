import { clusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  cleanedUp,
  finalized,
  isBlockMigration,
  type MigratingDomain,
  planTargetStep,
  type TargetStatus,
  type TargetStep,
  targetStatus,
} from "@virtkit/migration/target/agent";
import { migratingDomainOf, type RecordedDomain } from "./handler-migration-source.ts";
import { mergePatch } from "./merge-patch.ts";
import { eventLines } from "./migration-source-form.ts";

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
  readonly configuration: object;
  readonly migrationProxy?: {
    readonly targetPorts?: Readonly<Record<string, number>>;
    readonly startError?: boolean;
  };
  readonly migrationAddress?: string;
  readonly writeUnseen?: boolean;
  readonly launcher?: {
    readonly state?: string;
    readonly connected?: boolean;
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
}

/** What is compared of a pass: what the VMI is afterwards, and what is asked for again. */
export interface TargetPassAnswer {
  readonly step: TargetStep["step"];
  readonly vmi: VirtualMachineInstance | undefined;
  readonly events: readonly string[];
  readonly requeue: readonly (number | "rateLimited")[];
}

/** What each pass of a target comes to. */
export function targetPasses(
  { steps, ...only }: TargetPassInput,
  context: TargetPassContext,
): readonly TargetPassAnswer[] {
  let vmi: VirtualMachineInstance | undefined;
  let now = Date.parse(context.now);
  let ports = context.migrationProxy?.targetPorts;
  return (steps ?? [only]).map((pass) => {
    now += (pass.advanceSeconds ?? 0) * 1000;
    vmi = pass.vmi ?? (mergePatch(vmi, pass.vmiPatch) as VirtualMachineInstance | undefined);
    const known = { vmi, ports, now, domain: migratingDomainOf(pass.domain) };
    const { ports: open, ...answer } = answerTo(known, context);
    vmi = answer.vmi;
    ports = open;
    return answer;
  });
}

/** What the node knows when a pass begins. */
interface Known {
  readonly vmi: VirtualMachineInstance | undefined;
  readonly ports: Ports | undefined;
  readonly now: number;
  readonly domain: MigratingDomain | undefined;
}

type Ports = Readonly<Record<string, number>>;

function answerTo(
  known: Known,
  context: TargetPassContext,
): TargetPassAnswer & Pick<Known, "ports"> {
  const { names } = clusterConfig(context.configuration);
  const facts = { node: "node02", domain: known.domain, now: known.now, names };
  const isListening = known.ports !== undefined;
  const planned = planTargetStep(context.writeUnseen ? undefined : known.vmi, {
    ...facts,
    isListening,
  });
  const { step } = planned;
  const failure = failureOf(step, context);
  const isPrepared = step.step === "prepare" && !failure;
  const ports = isPrepared ? portsOf(known.vmi) : known.ports;
  const done = failure ? planned.vmi : afterStep(step, planned.vmi, names);
  const listener = ports && { address: context.migrationAddress ?? "10.0.0.2", ports };
  const reports = done !== undefined && reported.has(step.step);
  const status = reports
    ? targetStatus(done, { ...facts, ...(listener && { listener }) })
    : undefined;
  return {
    step: step.step,
    vmi: status?.vmi ?? (failure ? known.vmi : (done ?? known.vmi)),
    ports,
    events: [
      ...eventLines(planned.events),
      ...outcomeEvents(step, failure),
      ...eventLines(status?.events ?? []),
    ],
    requeue: requeueOf(step, failure, status),
  };
}

function requeueOf(
  step: TargetStep,
  failure: Failure,
  status: TargetStatus | undefined,
): TargetPassAnswer["requeue"] {
  return [
    ...(step.step === "wait" ? [step.seconds] : []),
    ...(failure === "waits" ? [1] : []),
    ...(status?.requeueSeconds === undefined ? [] : [status.requeueSeconds]),
    ...(failure === "failed" || step.step === "forget-domain" ? ["rateLimited" as const] : []),
  ];
}

/** After these the target says how it is. */
const reported: ReadonlySet<string> = new Set(["none", "wait", "prepare", "finalize"]);

function afterStep(
  { step }: TargetStep,
  vmi: VirtualMachineInstance | undefined,
  names: Names,
): VirtualMachineInstance | undefined {
  if (vmi && step === "finalize") return finalized(vmi, names);
  return vmi && step === "clean-up" ? cleanedUp(vmi, names) : vmi;
}

function outcomeEvents({ step }: TargetStep, failure: Failure): readonly string[] {
  if (step === "prepare" && !failure) return ["Normal PreparingTarget the target is prepared"];
  return failure === "failed" && reported.has(step) ? ["Warning SyncFailed it failed"] : [];
}

type Failure = "failed" | "waits" | undefined;

/** What a step runs into. */
function failureOf({ step }: TargetStep, context: TargetPassContext): Failure {
  const { launcher, failingHooks, containerDisks, hotplug, networkSetup } = context;
  const errors = launcher?.errors ?? {};
  const isGone = launcher?.connected === false;
  if (step === "finalize") {
    const fails =
      errors["FinalizeVirtualMachineMigration"] || failingHooks?.["PostMigrationTarget"];
    return fails ? "failed" : undefined;
  }
  if (step === "clean-up") {
    const fails = errors["FinalizeVirtualMachineMigration"] || containerDisks?.unmountError;
    return fails || isGone ? "failed" : undefined;
  }
  if (step !== "prepare") return undefined;
  if (containerDisks?.ready === false) return "waits";
  const fails =
    launcher?.state === "error" ||
    launcher?.state === "unresponsive" ||
    failingHooks?.["PreMigrationTarget"] ||
    containerDisks?.readyError ||
    containerDisks?.mountError ||
    hotplug?.mountError ||
    networkSetup ||
    errors["SyncMigrationTarget"] ||
    context.adjustResourcesError ||
    context.missingKvmDevice ||
    context.migrationProxy?.startError;
  return fails ? "failed" : undefined;
}

/** The recorder's proxy takes ports in the order of the sockets. */
function portsOf(vmi: VirtualMachineInstance | undefined): Ports {
  const copies = vmi && isBlockMigration(vmi);
  return { "40001": 0, "40002": 49152, ...(copies && { "40003": 49153 }) };
}
