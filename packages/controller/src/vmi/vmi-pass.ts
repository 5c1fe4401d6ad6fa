import type { Names } from "@virtkit/api/names";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceCondition,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import {
  type Condition,
  conditionsOf,
  findCondition,
  removeCondition,
  setCondition,
} from "@virtkit/api/status";
import type { TextMap } from "../plan/map-patch.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { timestamp } from "../plan/timestamp.ts";
import { RunGrant } from "./run-grant.ts";
import type { VmiPlanConfig } from "./vmi-plan-config.ts";
import type { VmiView } from "./vmi-view.ts";

/** One pass over a VMI: what is known about it, and what it should become. */
export class VmiPass {
  readonly view: VmiView;
  readonly vmi: VirtualMachineInstance;
  readonly config: VmiPlanConfig;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly draft: PlanDraft;
  /** The VMI as it should be; the rules change it one after the other. */
  status: VirtualMachineInstanceStatus;
  labels: TextMap;
  annotations: TextMap;
  finalizers: readonly string[];
  /** The next step is near, and there is nothing to report that could not be written with it. */
  isPostponed = false;
  /** Absent if the plan should be KubeVirt's. */
  readonly grant: RunGrant | undefined;
  #time: string | undefined;

  constructor(
    view: VmiView,
    vmi: VirtualMachineInstance,
    config: VmiPlanConfig,
    now: number,
    draft: PlanDraft,
  ) {
    this.view = view;
    this.vmi = vmi;
    this.config = config;
    this.now = now;
    this.draft = draft;
    this.status = vmi.status ?? {};
    this.labels = vmi.metadata?.labels ?? {};
    this.annotations = vmi.metadata?.annotations ?? {};
    this.finalizers = vmi.metadata?.finalizers ?? [];
    this.grant = view.grant && new RunGrant(vmi, config.cluster.names, view.grant);
  }

  /** The annotations with the run grant as it should be. */
  get writtenAnnotations(): TextMap {
    return { ...this.annotations, ...this.grant?.annotations };
  }

  get names(): Names {
    return this.config.cluster.names;
  }

  get namespace(): string {
    return text(this.vmi.metadata?.namespace);
  }

  get name(): string {
    return text(this.vmi.metadata?.name);
  }

  get isBeingDeleted(): boolean {
    return Boolean(this.vmi.metadata?.deletionTimestamp);
  }

  /** Whether the VMI receives a guest from another cluster or namespace. */
  get isReceiver(): boolean {
    return this.annotations[this.names.annotations.createMigrationTarget] === "true";
  }

  /** Whether it receives a guest and does not know yet from where. */
  get isReceiverUnsynced(): boolean {
    return this.isReceiver && this.labels[this.names.labels.migrationTargetNodeName] === undefined;
  }

  /** The time in the format of objects. */
  get time(): string {
    this.#time ??= timestamp(this.now);
    return this.#time;
  }

  event(type: "Normal" | "Warning", reason: string, message: string): void {
    this.draft.event({ type, reason, message });
  }

  /** The condition of a type, as it should be so far. */
  condition(type: string): Condition | undefined {
    return findCondition(conditionsOf(this), type);
  }

  setCondition(condition: Pick<Condition, "type" | "status" | "reason" | "message">): void {
    const dated = { ...condition, lastProbeTime: this.time, lastTransitionTime: this.time };
    this.#setConditions(setCondition(conditionsOf(this), dated));
  }

  removeCondition(type: string): void {
    this.#setConditions(removeCondition(conditionsOf(this), type));
  }

  #setConditions(conditions: readonly Condition[]): void {
    const before = conditionsOf(this);
    if (conditions.length === before.length && conditions.every((each, i) => each === before[i])) {
      return;
    }
    this.status = { ...this.status, conditions: conditions as VirtualMachineInstanceCondition[] };
  }
}
