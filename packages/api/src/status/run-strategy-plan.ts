import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { quote } from "../schema/issue.ts";
import { at, entry, isSet, number, object, objects, text } from "../shape.ts";
import { conditionsOf, hasCondition, removeCondition } from "./conditions.ts";
import { type DataVolumeView, planDataVolumes } from "./data-volume-plan.ts";
import { controlledBy } from "./owner-reference.ts";
import { isFinal, phaseOf } from "./phases.ts";
import type { PlanFailure, PlannedEvent, VmPlan, Write } from "./plan.ts";
import { runStrategies } from "./run-strategy.ts";
import { startDelayLeft } from "./start-backoff.ts";
import {
  hasStartRequest,
  hasStopRequestFor,
  stateChangeRequestsOf,
  uidOf,
} from "./state-change-requests.ts";
import { type NewVmiView, vmiFromVm } from "./vmi-from-vm.ts";

/** A stored copy of a VM's spec at its start. */
export interface VmRevision {
  readonly name: string;
  readonly revision: number;
}

/** Everything that one pass of a run strategy depends on. */
export interface RunStrategyView extends DataVolumeView, NewVmiView {
  readonly config: NewVmiView["config"];
  readonly vm: VirtualMachine;
  readonly vmi?: VirtualMachineInstance | undefined;
  /** Revisions of this VM that exist. */
  readonly revisions?: readonly VmRevision[] | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Seconds until the next look at a finished migration to elsewhere. */
const decentralizedRecheckSeconds = 2;

/**
 * Decides what to do for a VM's run strategy. Nothing is done for an unknown strategy.
 *
 * @example
 * ```ts
 * const plan = planRunStrategy("Always", { vm, config: clusterConfig(), now: Date.now() });
 * plan.writes.map(({ kind, resource }) => `${kind} ${resource}`);
 * // ["create controllerrevisions", "create virtualmachineinstances"]
 * ```
 */
export function planRunStrategy(strategy: string, given: RunStrategyView): VmPlan {
  const view = { ...given, vm: object(given.vm) as unknown as VirtualMachine };
  switch (strategy) {
    case "Always":
      return view.vmi ? always(view, view.vmi) : startUnlessBackingOff(view);
    case "RerunOnFailure":
      return view.vmi ? rerunOnFailure(view, view.vmi) : startIfAskedOrNew(view, strategy);
    case "Manual":
      return manual(view);
    case "Halted":
      return view.vmi ? stop(view, view.vmi) : flipToAlways(view);
    case "Once":
      return view.vmi ? nothing(view) : start(view);
    case "WaitAsReceiver":
      return view.vmi ? receiver(view, view.vmi) : start(view);
    default:
      return failed(
        view,
        "FailedCreate",
        `spec.runStrategy is ${quote(strategy)}; use one of ${runStrategies.join(", ")}`,
      );
  }
}

function always(view: RunStrategyView, vmi: VirtualMachineInstance): VmPlan {
  if (!hasStopRequestFor(view.vm, vmi) && !isFinal(vmi)) return nothing(view);
  if (!isDecentralizedMigration(vmi)) return stop(view, vmi);
  // The guest lives elsewhere: starting it here again would make it run twice.
  if (at(vmi, "status", "migrationState", "completed") !== true) {
    return { ...nothing(view), requeueAfterSeconds: decentralizedRecheckSeconds };
  }
  return { ...nothing(view), vm: withStrategy(view.vm, "Halted") };
}

function rerunOnFailure(view: RunStrategyView, vmi: VirtualMachineInstance): VmPlan {
  const phase = phaseOf(vmi);
  const isOver = phase === "Failed" || phase === "Succeeded";
  if (isSet(at(vmi, "metadata", "deletionTimestamp"))) return nothing(view);
  if (!isOver && !hasStopRequestFor(view.vm, vmi)) return nothing(view);
  const plan = stop(view, vmi);
  if (phase !== "Failed") return plan;
  const requests = [...stateChangeRequestsOf(view.vm), { action: "Start" as const }];
  const write: Write = {
    kind: "patch",
    resource: "virtualmachines",
    subresource: "status",
    name: text(at(view.vm, "metadata", "name")),
    patch: [{ op: "add", path: "/status/stateChangeRequests", value: requests }],
  };
  const vm = { ...plan.vm, status: { ...plan.vm.status, stateChangeRequests: requests } };
  return { ...plan, writes: [...plan.writes, write], vm };
}

/** A VM that has just got this strategy is started; later only on request. */
function startIfAskedOrNew(view: RunStrategyView, strategy: string): VmPlan {
  const isNew = at(view.vm, "status", "runStrategy") !== strategy;
  return isNew || hasStartRequest(view.vm) ? startUnlessBackingOff(view) : nothing(view);
}

function manual(view: RunStrategyView): VmPlan {
  if (view.vmi) return hasStopRequestFor(view.vm, view.vmi) ? stop(view, view.vmi) : nothing(view);
  return hasStartRequest(view.vm) ? start(view) : nothing(view);
}

/** A start request on a halted VM means to start it paused: the strategy changes first. */
function flipToAlways(view: RunStrategyView): VmPlan {
  if (!hasStartRequest(view.vm)) return nothing(view);
  const write: Write = {
    kind: "update",
    resource: "virtualmachines",
    object: withStrategy(view.vm, "Always"),
  };
  return { ...nothing(view), writes: [write] };
}

function receiver(view: RunStrategyView, vmi: VirtualMachineInstance): VmPlan {
  const names = view.config.names.annotations;
  const annotations = at(vmi, "metadata", "annotations");
  if (entry(annotations, names.createMigrationTarget) === "true") return nothing(view);
  if (at(vmi, "status", "migrationState", "completed") !== true) {
    const why = "spec.runStrategy is WaitAsReceiver, but the VMI does not wait for a migration";
    return failed(view, "FailedCreate", `${why}; stop it or change the strategy`);
  }
  const strategy = entry(at(view.vm, "metadata", "annotations"), names.restoreRunStrategy);
  if (strategy === undefined) return nothing(view);
  const vm = { ...view.vm, spec: { ...view.vm.spec, runStrategy: strategy } };
  return { ...nothing(view), vm };
}

function startUnlessBackingOff(view: RunStrategyView): VmPlan {
  const left = startDelayLeft(view.vm, view.now);
  return left > 0 ? { ...nothing(view), requeueAfterSeconds: left } : start(view);
}

function start(view: RunStrategyView): VmPlan {
  const { writes, events, ready, error } = planDataVolumes(view.vm, view);
  const base = { ...nothing(view), writes, events };
  if (error !== undefined) return { ...base, failure: startFailure(error) };
  const needsRecovery = hasCondition(conditionsOf(view.vm), "ManualRecoveryRequired", "True");
  if (!ready || needsRecovery) return base;
  const revision = revisionName(view.vm);
  const withRevision = { ...base, writes: [...writes, ...revisionWrites(view, revision)] };
  const made = vmiFromVm(view.vm, revision, view);
  if ("refused" in made) {
    const failure = startFailure(made.refused);
    const told: PlannedEvent = {
      type: "Warning",
      reason: "FailedCreate",
      message: failure.message,
    };
    const isTold = made.by === "instancetype";
    return { ...withRevision, events: isTold ? [...events, told] : events, failure };
  }
  const name = text(at(view.vm, "metadata", "name"));
  const event: PlannedEvent = {
    type: "Normal",
    reason: "SuccessfulCreate",
    message: `VirtualMachineInstance "${name}" was created to start the VM`,
  };
  return {
    writes: [
      ...withRevision.writes,
      { kind: "create", resource: "virtualmachineinstances", object: { ...made.vmi } },
    ],
    events: [...events, event],
    vm: withoutRestartRequired(view.vm),
  };
}

/** Stores the VM's spec at its start, once per generation, and deletes older ones. */
function revisionWrites(
  { vm, revisions, config }: RunStrategyView,
  name: string,
): readonly Write[] {
  const generation = number(at(vm, "metadata", "generation"));
  const prefix = `revision-start-vm-${uidOf(vm)}`;
  const own = objects<VmRevision>(revisions).filter((item) => text(item.name).includes(prefix));
  const writes: Write[] = own
    .filter(({ revision }) => revision !== generation)
    .map((old) => ({ kind: "delete", resource: "controllerrevisions", name: old.name }));
  if (own.some(({ revision }) => revision === generation)) return writes;
  const namespace = text(at(vm, "metadata", "namespace"));
  const revision = {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: { name, namespace, ownerReferences: [controlledBy(vm, config.names)] },
    data: { spec: specWithRevisions(vm) },
    revision: generation,
  };
  return [...writes, { kind: "create", resource: "controllerrevisions", object: revision }];
}

/** The spec with the effective revisions of instance type and preference. */
function specWithRevisions(vm: VirtualMachine): unknown {
  const spec = vm.spec;
  const revisionOf = (ref: string): string =>
    text(at(vm, "status", ref, "controllerRevisionRef", "name"));
  const instancetype = revisionOf("instancetypeRef");
  const preference = revisionOf("preferenceRef");
  return {
    ...spec,
    ...(spec?.instancetype && instancetype
      ? { instancetype: { ...spec.instancetype, revisionName: instancetype } }
      : {}),
    ...(spec?.preference && preference
      ? { preference: { ...spec.preference, revisionName: preference } }
      : {}),
  };
}

function revisionName(vm: VirtualMachine): string {
  return `revision-start-vm-${uidOf(vm)}-${number(at(vm, "metadata", "generation"))}`;
}

function stop(view: RunStrategyView, vmi: VirtualMachineInstance): VmPlan {
  if (isSet(at(vmi, "metadata", "deletionTimestamp"))) return nothing(view);
  const uid = uidOf(vmi);
  const name = text(at(vmi, "metadata", "name"));
  return {
    writes: [
      {
        kind: "delete",
        resource: "virtualmachineinstances",
        name,
        uid,
      },
    ],
    events: [
      {
        type: "Normal",
        reason: "SuccessfulDelete",
        message: `VirtualMachineInstance "${name}" (UID ${uid}) was deleted to stop the VM`,
      },
    ],
    vm: withoutRestartRequired(view.vm),
  };
}

/** Either `running` or `runStrategy` may be in use; that one stays. */
function withStrategy(vm: VirtualMachine, strategy: "Always" | "Halted"): VirtualMachine {
  if (!isSet(vm.spec?.runStrategy)) {
    return { ...vm, spec: { ...vm.spec, running: strategy === "Always" } };
  }
  return { ...vm, spec: { ...vm.spec, runStrategy: strategy } };
}

function withoutRestartRequired(vm: VirtualMachine): VirtualMachine {
  const present = conditionsOf(vm);
  const conditions = removeCondition(present, "RestartRequired");
  if (conditions === present) return vm;
  return { ...vm, status: { ...vm.status, conditions: [...conditions] } };
}

/** Whether the VMI moves to or from another cluster or namespace: only one side has an address. */
function isDecentralizedMigration(vmi: VirtualMachineInstance): boolean {
  const state = at(vmi, "status", "migrationState");
  const source = at(state, "sourceState");
  const target = at(state, "targetState");
  if (!isSet(source) || !isSet(target)) return false;
  return isSet(at(source, "syncAddress")) !== isSet(at(target, "syncAddress"));
}

function startFailure(why: string): PlanFailure {
  return { reason: "FailedCreate", message: `the VM cannot start: ${why}` };
}

function failed(view: RunStrategyView, reason: string, message: string): VmPlan {
  return { ...nothing(view), failure: { reason, message } };
}

function nothing({ vm }: RunStrategyView): VmPlan {
  return { writes: [], events: [], vm };
}
