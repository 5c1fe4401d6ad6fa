import { clusterConfig } from "@virtkit/api/config";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceCondition,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import {
  type MigratingDomain,
  planSourcePass,
  type SourcePass,
  type SourceStep,
} from "@virtkit/migration/source/agent";
import { mergePatch } from "./merge-patch.ts";
import { domainOf, eventLines, recordedOptions } from "./migration-source-form.ts";

/** The parts of a domain in the area `handler-migration` that a migration reads. */
export interface RecordedDomain {
  readonly status: string;
  readonly reason: string;
  readonly uid?: string;
  readonly metadata?: { readonly migration?: Readonly<Record<string, unknown>> };
}

interface RecordedPass {
  readonly vmi?: VirtualMachineInstance;
  readonly vmiPatch?: object;
  readonly domain?: RecordedDomain;
  readonly advanceSeconds?: number;
}

/** The input of a case: one pass, or several. */
export type SourcePassInput = RecordedPass & { readonly steps?: readonly RecordedPass[] };

/** The context of a case: when it is, and what fails. */
export interface SourcePassContext {
  readonly now: string;
  readonly configuration?: object;
  readonly launcher?: {
    readonly state?: string;
    readonly errors?: Readonly<Record<string, string>>;
  };
  readonly failingHooks?: object;
  readonly isolationError?: boolean;
  readonly vmiUpdate?: string;
  /** The node agent does not look at a VMI whose last write it has not seen come back. */
  readonly writeUnseen?: boolean;
}

/** What each pass of a source does, in the recorded form. */
export function sourcePasses(
  { steps, ...only }: SourcePassInput,
  context: SourcePassContext,
): readonly object[] {
  let vmi: VirtualMachineInstance | undefined;
  let now = Date.parse(context.now);
  return (steps ?? [only]).map((pass) => {
    now += (pass.advanceSeconds ?? 0) * 1000;
    vmi = pass.vmi ?? (mergePatch(vmi, pass.vmiPatch) as VirtualMachineInstance | undefined);
    const planned = planSourcePass(context.writeUnseen ? undefined : vmi, {
      node: "node01",
      domain: migratingDomainOf(pass.domain),
      config: clusterConfig(context.configuration ?? {}),
      now,
    });
    const answer = carriedOut(planned, vmi, context);
    if (answer.written && vmi) vmi = { ...vmi, status: answer.written.status };
    return answer;
  });
}

/** A domain in our terms. */
export function migratingDomainOf(domain: RecordedDomain | undefined): MigratingDomain | undefined {
  if (!domain) return undefined;
  const migration = capitalised(domain.metadata?.migration);
  return { vmiUid: domain.uid, state: domain.status, ...domainOf({ ...domain, migration }) };
}

function capitalised(fields: Readonly<Record<string, unknown>> | undefined): object | undefined {
  if (!fields) return undefined;
  const names = Object.entries(fields).map(([name, value]) => {
    const spelled = name === "uid" ? "UID" : name.charAt(0).toUpperCase() + name.slice(1);
    return [spelled, value];
  });
  return Object.fromEntries(names) as object;
}

interface Answer {
  readonly launcher: readonly object[];
  readonly events: readonly string[];
  readonly requeue: readonly unknown[];
  readonly written?: { readonly status: VirtualMachineInstanceStatus };
}

const calls = {
  migrate: "MigrateVirtualMachine",
  cancel: "CancelVirtualMachineMigration",
} as const;

/** The result of a plan if some things fail. */
function carriedOut(
  { step, migrationState, isLost, events, requeueSeconds }: SourcePass,
  vmi: VirtualMachineInstance | undefined,
  context: SourcePassContext,
): Answer {
  const { launcher, hasFailed, events: outcome } = called(step, context);
  const status = { ...vmi?.status, ...(isLost && { phase: "Failed" }) };
  const written = migrationState && { status: recordedStatus({ ...status, migrationState }) };
  const isRefused = written !== undefined && context.vmiUpdate === "conflict";
  return {
    launcher,
    events: [...outcome, ...eventLines(events)],
    requeue: [
      ...(requeueSeconds === undefined ? [] : [{ afterSeconds: requeueSeconds }]),
      ...(hasFailed || isRefused ? ["rateLimited"] : []),
    ],
    ...(written && { written }),
  };
}

/** The result of the launcher call. */
function called(
  step: SourceStep,
  context: SourcePassContext,
): Pick<Answer, "launcher" | "events"> & { readonly hasFailed: boolean } {
  if (step.step !== "migrate" && step.step !== "cancel") {
    return { launcher: [], events: [], hasFailed: false };
  }
  const failure = { events: ["Warning SyncFailed"], hasFailed: true };
  if (failsBefore(step.step, context)) return { launcher: [], ...failure };
  const call = calls[step.step];
  const options = step.step === "migrate" ? { options: recordedOptions(step.options) } : {};
  const launcher = [{ call, ...options }];
  if (context.launcher?.errors?.[call] !== undefined) return { launcher, ...failure };
  return { launcher, events: eventLines(step.events), hasFailed: false };
}

/** Whether the launcher is not even called. */
function failsBefore(step: "migrate" | "cancel", context: SourcePassContext): boolean {
  const { launcher, failingHooks, isolationError } = context;
  if (launcher?.state === "error" || launcher?.state === "unresponsive") return true;
  return step === "migrate" && (failingHooks !== undefined || isolationError === true);
}

/** As it is recorded: without the times and messages of conditions. */
export function recordedStatus(status: VirtualMachineInstanceStatus): VirtualMachineInstanceStatus {
  const conditions = (status.conditions ?? []).map(
    ({ type, status: value, reason }): VirtualMachineInstanceCondition => ({
      type,
      status: value,
      ...(reason && { reason }),
    }),
  );
  return { ...status, conditions: conditions.sort((a, b) => (a.type < b.type ? -1 : 1)) };
}
