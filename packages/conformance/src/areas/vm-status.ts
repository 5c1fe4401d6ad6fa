import { type VirtualMachine, VirtualMachineStatusSchema } from "@virtkit/api/schema";
import { at, objects } from "@virtkit/api/shape";
import {
  type DataVolume,
  findCondition,
  isRestartRequired,
  planRunStrategy,
  planVmStatus,
  printableStatus,
  restartRequiredConditions,
  runStrategyOf,
  startDelayRange,
  startFailureOf,
  type VmView,
  type VolumeClaim,
} from "@virtkit/api/status";
import type { BatchFunction } from "../batch/batch-area.ts";
import { actions } from "./actions.ts";
import { writeAsGo } from "./go-form.ts";
import { integerField } from "./input-fields.ts";
import { haltedStartQuirk } from "./quirks.ts";
import { vmAndVmiOf } from "./request.ts";
import { contextConfig } from "./request-context.ts";
import { subresource } from "./vm-subresource.ts";

/** Between the times in the requests, which are in 2020 and in 2099. */
const now = Date.parse("2050-01-01T00:00:00Z");
const clock = { now, random: (): number => 0 };

/** The functions of area `vm-status`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  printableStatus: (input, context) => ({ printableStatus: printableStatus(view(input, context)) }),

  runStrategy: (input, context) => runStrategy(input, context),

  startBackoff: (input) => {
    const failures = Number(integerField(input, "failCount"));
    const { min, max } = startDelayRange(failures, Number(integerField(input, "maxDelaySeconds")));
    return { minSeconds: min, maxSeconds: max };
  },

  startFailure: (input) => {
    const { vm, vmi } = vmAndVmiOf(input);
    const failure = startFailureOf(vm, vmi, clock);
    if (!failure) return { startFailure: null };
    const { retryAfterTimestamp, ...startFailure } = failure;
    const before = at(vm, "status", "startFailure", "retryAfterTimestamp");
    return { startFailure, retryAfterChanged: retryAfterTimestamp !== before };
  },

  restartRequired: (input, context) => {
    const { vm, vmi } = vmAndVmiOf(input);
    const startedWith = at(input, "lastSeenSpec") as VirtualMachine["spec"] | undefined;
    const view = { vm, vmi, startedWith, config: contextConfig(context) };
    const conditions = restartRequiredConditions(view, new Date(now).toISOString());
    const condition = findCondition(conditions, "RestartRequired");
    return { changed: isRestartRequired(view), condition: condition ? shown(condition) : null };
  },

  subresource: (input) => subresource(input),

  updateStatus: (input, context) => updateStatus(input, context),
};

function shown(condition: object): unknown {
  const { status, reason, message } = condition as Record<string, unknown>;
  return { status, ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

function runStrategy(input: unknown, context: unknown): unknown {
  const { vm, vmi, dataVolumes, claims } = view(input, context);
  const found = runStrategyOf(vm);
  if ("contradiction" in found) return { error: found.contradiction };
  const { strategy } = found;
  const config = contextConfig(context);
  const plan = planRunStrategy(strategy, { vm, vmi, dataVolumes, claims, config, now });
  const after = runStrategyOf(plan.vm);
  const failure = plan.failure ?? haltedStartQuirk(strategy, plan.writes);
  return {
    actions: actions(plan.writes),
    events: plan.events.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
    runStrategy: strategy,
    runStrategyAfter: "strategy" in after ? after.strategy : "Unknown",
    ...(failure ? { syncError: failure } : {}),
  };
}

function updateStatus(input: unknown, context: unknown): unknown {
  const config = contextConfig(context);
  const { status, writes } = planVmStatus({ ...view(input, context), config, random: () => 0 });
  const { conditions = [], startFailure, ...rest } = status;
  const { retryAfterTimestamp: _, ...failure } = startFailure ?? {};
  const timeless = conditions
    .map(({ lastProbeTime: _, lastTransitionTime: __, ...condition }) => condition)
    .sort((a, b) => (a.type < b.type ? -1 : 1));
  const answer = {
    ...rest,
    conditions: timeless,
    ...(startFailure ? { startFailure: failure } : {}),
  };
  return {
    status: writeAsGo(answer, VirtualMachineStatusSchema),
    writes: writes.map((write) => {
      const target =
        "subresource" in write ? `${write.resource}/${write.subresource}` : write.resource;
      return `${write.kind} ${target}`;
    }),
  };
}

function view(input: unknown, context: unknown): VmView {
  const expected = at(context, "expectedVMIChange") as VmView["expected"];
  const dataVolumes = objects<DataVolume>(at(context, "dataVolumes"));
  const claims = objects<VolumeClaim>(at(context, "persistentVolumeClaims"));
  return { ...vmAndVmiOf(input), dataVolumes, claims, expected, now };
}
