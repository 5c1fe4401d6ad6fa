import { semanticallyEqual } from "@virtkit/api/admission";
import { runMemoryCondition } from "@virtkit/api/grant";
import {
  type VirtualMachineCondition,
  type VirtualMachineInstance,
  type VirtualMachineStatus,
  VirtualMachineStatusSchema,
} from "@virtkit/api/schema";
import { at, isSet, objects, text } from "@virtkit/api/shape";
import { conditionsOf, hasCondition, isFinal, isRunning } from "@virtkit/api/status";
import { isDeleting } from "../plan/ownership.ts";
import { sameVmConditions } from "./same-vm-conditions.ts";
import type { VmPass } from "./vm-pass.ts";

/** For this long, in milliseconds, nobody misses a step that is followed by the next one. */
const patience = 3_000;

/** What may wait for the next needed write: fields of the status, and types of conditions. */
interface Deferrable {
  readonly fields: readonly (keyof VirtualMachineStatus)[] | "all";
  readonly conditions: readonly string[] | "all";
}

/**
 * Whether a new status has nothing that anybody needs before the next step, which is about to come
 * and is written with it. Otherwise every VM would cost these writes.
 */
export function canWait(
  pass: VmPass,
  before: VirtualMachineStatus,
  after: VirtualMachineStatus,
): boolean {
  const { fields, conditions } = deferrable(pass, before, after);
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...keys].filter((key) => {
    const only = (status: VirtualMachineStatus) => ({ [key]: at(status, key) });
    return !semanticallyEqual(VirtualMachineStatusSchema, only(before), only(after), "status");
  });
  const mayWait = (key: string): boolean =>
    fields === "all" || key === "conditions" || fields.includes(key as never);
  if (!changed.every(mayWait)) return false;
  const types = changedTypes(pass, before, after);
  return conditions === "all" || types.every((type) => conditions.includes(type));
}

function deferrable(
  pass: VmPass,
  before: VirtualMachineStatus,
  after: VirtualMachineStatus,
): Deferrable {
  const { vm, vmi, isStarting, config } = pass;
  // The more exact memory is needed only if somebody removes VMI and Pod by force.
  const memory = config.names.own(runMemoryCondition);
  // Nobody needs to know more about a deleted VM than why it is still there, and not even that if it is gone at once.
  if (isDeleting(vm)) {
    const isSameFailure = !changedTypes(pass, before, after).includes("Failure");
    const isTold = isSameFailure && before.printableStatus === after.printableStatus;
    const isQuick = isWithin(pass, at(vm, "metadata", "deletionTimestamp"));
    return isTold || isQuick ? everything : { fields: [], conditions: [memory] };
  }
  // The VMI appears in a moment, and shows that it exists. If it follows another one, that one is gone only now.
  if (isStarting) return { fields: ["created", "printableStatus"], conditions: [memory, "Ready"] };
  if (!vmi || isFinal(vmi) || isDeleting(vmi)) return { fields: [], conditions: [memory] };
  const isReady = hasCondition(conditionsOf(vmi), "Ready", "True");
  // A guest that has just started is ready in a moment, unless it has a probe.
  if (isRunning(vmi) && !isReady && !isSet(at(vmi, "spec", "readinessProbe"))) {
    if (isWithin(pass, sinceRunning(vmi))) return everything;
  }
  // The VMI says why it is not ready yet.
  return { fields: [], conditions: !isRunning(vmi) && !isReady ? [memory, "Ready"] : [memory] };
}

const everything: Deferrable = { fields: "all", conditions: "all" };

/** Whether something has happened just now; if so, the VM is looked at again afterwards. */
function isWithin({ now, draft }: VmPass, time: unknown): boolean {
  const left = Date.parse(text(time)) + patience - now;
  if (!(left > 0 && left <= patience)) return false;
  draft.requeueAfter(Math.ceil(left / 1000));
  return true;
}

function sinceRunning(vmi: VirtualMachineInstance): unknown {
  const times = objects(at(vmi, "status", "phaseTransitionTimestamps"));
  const running = times.find(({ phase }) => phase === "Running");
  return running?.["phaseTransitionTimestamp"];
}

function changedTypes(
  { config }: VmPass,
  before: VirtualMachineStatus,
  after: VirtualMachineStatus,
): readonly string[] {
  const [old, next] = [before, after].map((status) =>
    conditionsOf<VirtualMachineCondition>({ status }),
  ) as [readonly VirtualMachineCondition[], readonly VirtualMachineCondition[]];
  const types = new Set([...old, ...next].map(({ type }) => type));
  const only = (list: readonly VirtualMachineCondition[], type: string) =>
    list.filter((each) => each.type === type);
  return [...types].filter((type) => !sameVmConditions(only(old, type), only(next, type), config));
}
