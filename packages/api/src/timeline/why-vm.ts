import { clusterConfig } from "../config/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { at, isObject, isSet, number, objects, text } from "../shape.ts";
import { type Condition, conditionsOf, findCondition } from "../status/conditions.ts";
import { isFinal } from "../status/phases.ts";
import { restartRequiredFields } from "../status/restart-required.ts";
import { runStrategyOf } from "../status/run-strategy.ts";
import { hasStartRequest } from "../status/state-change-requests.ts";
import {
  type DataVolume,
  hasFailed,
  isProvisioning,
  usedDataVolumes,
} from "../status/vm-storage.ts";
import type { TimelineEvent } from "./event-evidence.ts";
import { quote } from "./sentences.ts";

/** Everything that is known about a VM. Every part except the VM may be missing or of any shape. */
export interface VmStoryInput {
  readonly vm: VirtualMachine;
  /** The VMI of the VM's name. */
  readonly vmi?: VirtualMachineInstance | undefined;
  readonly dataVolumes?: readonly DataVolume[] | undefined;
  /** Stored specs, `revision-start-vm-...`: they show which fields wait for a restart. */
  readonly revisions?: readonly unknown[] | undefined;
  readonly events?: readonly TimelineEvent[] | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Why a VM is in its present state. */
export interface VmStory {
  /** `started`: there is a living VMI, which `handoffs` describes. */
  readonly state: "started" | "stopped" | "waiting" | "failed" | "deleting";
  /** One sentence, with what to do about it. */
  readonly reason: string;
  /** Fields whose change waits for a restart; empty if there are none, or if they are unknown. */
  readonly restart: readonly string[];
  /**
   * Why a restart is due, in the controller's words. It may be due without a field in `restart`: because of another
   * instance type, or because a change of CPUs, memory or volumes did not reach the guest.
   */
  readonly restartReason?: string;
}

/**
 * Why a VM is not started, or does not match its spec yet: because of its strategy, a back-off after failed
 * starts, disks that are being filled, or a failure. Accepts values of any shape.
 *
 * @example
 * ```ts
 * whyVm({ vm, now: Date.now() }).reason;
 * // "2 starts in a row failed; the next attempt is in 40 s, at 2026-01-01T00:00:40Z"
 * ```
 */
export function whyVm(input: VmStoryInput): VmStory {
  const [state, reason] = judge(input);
  const story = { state, reason: reason.replace(/\p{Cc}+/gu, " ") };
  const condition = findCondition(conditionsOf(input.vm), "RestartRequired");
  if (condition?.status !== "True") return { ...story, restart: [] };
  const said = quote(text(condition.message));
  return { ...story, restart: waitingFields(input), ...(said && { restartReason: said }) };
}

type Judgement = readonly [VmStory["state"], string];

function judge(input: VmStoryInput): Judgement {
  const { vm, vmi } = input;
  if (isSet(at(vm, "metadata", "deletionTimestamp"))) return ["deleting", deletion(input)];
  const condition = findCondition(conditionsOf(vm), "Failure");
  const failure = condition?.status === "True" ? failureText(condition) : undefined;
  if (vmi && !isFinal(vmi)) {
    const but = failure && `, but what is wanted of it cannot be done: ${failure}`;
    return ["started", `its VMI exists${but ?? ""}`];
  }
  if (failure !== undefined) return ["failed", failure];
  return held(input) ?? unfilled(input) ?? backingOff(input) ?? unwanted(input) ?? pending;
}

function failureText({ reason, message }: Condition): string {
  return `${text(reason) || "Failure"}: ${quote(text(message)) || "no reason was given"}`;
}

const pending: Judgement = [
  "waiting",
  "it should start, but nothing shows that the controller has seen it; check that the controller runs",
];

function deletion({ vm, vmi }: VmStoryInput): string {
  if (vmi) return "it is being deleted and waits for its VMI to end";
  const found = at(vm, "metadata", "finalizers");
  const finalizers = Array.isArray(found) ? found.map(String).join(", ") : "";
  return finalizers
    ? `it is being deleted and waits for the owners of the finalizers ${finalizers}`
    : "it is being deleted";
}

/** If a guest ended while its volumes were being moved, some volumes are older than others. */
function held({ vm }: VmStoryInput): Judgement | undefined {
  const condition = findCondition(conditionsOf(vm), "ManualRecoveryRequired");
  if (condition?.status !== "True") return undefined;
  const what = "its VMI ended while its volumes were being moved";
  return ["failed", `${what}; name the old claims in spec.template again, then start it`];
}

function unfilled({ vm, dataVolumes }: VmStoryInput): Judgement | undefined {
  const used = usedDataVolumes(vm, { dataVolumes });
  const failed = used.find(hasFailed);
  if (failed) {
    const condition = findCondition(conditionsOf(failed), "Running");
    const said = quote(text(condition?.message));
    return [
      "failed",
      `DataVolume ${nameOf(failed)} failed${said && `: ${said}`}; look at its events`,
    ];
  }
  const open = used.filter(isProvisioning);
  if (open.length === 0) return undefined;
  const list = open.map((item) => {
    const progress = text(at(item, "status", "progress"));
    const phase = text(at(item, "status", "phase")) || "no phase yet";
    return `${nameOf(item)} (${phase}${progress && `, ${progress}`})`;
  });
  return ["waiting", `its disks are being filled: DataVolume ${list.join(", ")}`];
}

function backingOff(input: VmStoryInput): Judgement | undefined {
  const { vm, now } = input;
  const failures = number(at(vm, "status", "startFailure", "consecutiveFailCount"));
  if (failures === 0) return undefined;
  const time = text(at(vm, "status", "startFailure", "retryAfterTimestamp"));
  const left = Math.ceil((Date.parse(time) - now) / 1000);
  const next =
    left > 0 ? `the next attempt is in ${left} s, at ${time}` : "the next attempt is due";
  const word = lastWord(input);
  return [
    "waiting",
    `${failures} starts in a row failed; ${next}${word && `; the last error: ${word}`}`,
  ];
}

/** The last message about the guest that failed to start. */
function lastWord({ vm, vmi, events }: VmStoryInput): string {
  const name = at(vm, "metadata", "name");
  const told = objects<TimelineEvent>(events)
    .filter(({ type, involvedObject, regarding }) => {
      const about = involvedObject ?? regarding;
      const isVmi = at(about, "kind") === "VirtualMachineInstance";
      return type === "Warning" && isVmi && at(about, "name") === name;
    })
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  const [last] = told;
  const said = last ? `${text(last.reason)}: ${text(last.message) || text(last.note)}` : "";
  return quote(said || text(at(vmi, "status", "reason")));
}

function timeOf(event: TimelineEvent): string {
  return text(event.lastTimestamp) || text(event.eventTime) || text(event.firstTimestamp);
}

/** The strategy does not want it to run, or nobody has asked for it. */
function unwanted({ vm, vmi }: VmStoryInput): Judgement | undefined {
  const found = runStrategyOf(vm);
  if ("contradiction" in found) return ["failed", found.contradiction];
  const { strategy } = found;
  const isAsked = hasStartRequest(vm);
  const stopped = (why: string): Judgement => [
    "stopped",
    `spec.runStrategy is ${strategy}: ${why}`,
  ];
  switch (strategy) {
    case "Halted":
      return isAsked
        ? undefined
        : stopped("it does not run; set the strategy to Always, or start the VM");
    case "Manual":
      return isAsked ? undefined : stopped("it waits for a manual start");
    case "RerunOnFailure": {
      const wasStarted = at(vm, "status", "runStrategy") === strategy;
      const why = "the guest has shut down, and is only started again after a failure";
      return isAsked || !wasStarted ? undefined : stopped(`${why}; start the VM`);
    }
    case "Once":
      return vmi ? stopped("it has run, and is not started again") : undefined;
    case "WaitAsReceiver":
      return ["waiting", "spec.runStrategy is WaitAsReceiver: it waits for a guest from elsewhere"];
    default:
      return undefined;
  }
}

function waitingFields({ vm, vmi, revisions }: VmStoryInput): readonly string[] {
  const name = text(at(vmi, "status", "virtualMachineRevisionName"));
  const revision = objects(revisions).find((item) => at(item, "metadata", "name") === name);
  const startedWith = at(revision, "data", "spec");
  if (!isObject(startedWith)) return [];
  return restartRequiredFields({
    vm,
    vmi,
    startedWith: startedWith as unknown as VirtualMachine["spec"],
    config: clusterConfig(),
  });
}

function nameOf(object: unknown): string {
  return text(at(object, "metadata", "name"));
}
