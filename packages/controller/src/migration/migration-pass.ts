import type { Names } from "@virtkit/api/names";
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrationCondition,
  VirtualMachineInstanceMigrationStatus,
} from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import {
  type Condition,
  conditionsOf,
  findCondition,
  removeCondition,
  setCondition,
} from "@virtkit/api/status";
import { migrationPriority, queuePriority } from "@virtkit/migration/policy";
import { about } from "../plan/about.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { timestamp } from "../plan/timestamp.ts";
import { type VmResources, vmResources } from "../plan/vm-resources.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { currentPod, isControlledBy } from "../vmi/own-pods.ts";
import { RunGrant } from "../vmi/run-grant.ts";
import type { VmiPlanConfig } from "../vmi/vmi-plan-config.ts";
import type { MigrationView } from "./migration-view.ts";

/** When to look at this or another migration again although nothing has changed. */
export interface Requeue {
  readonly afterSeconds: number;
  /** Its place in the queue; higher goes first. */
  readonly priority: number;
  /** The key (`namespace/name`) of another migration; by default this one. */
  readonly key?: string;
}

/** How migrations are carried out. */
export interface MigrationPlanConfig extends VmiPlanConfig {
  /**
   * Whether each phase is shown, one per pass, as KubeVirt does. By default a pass goes as far as
   * it can and writes once, so phases that end immediately are not shown.
   */
  readonly phases?: "each" | "reached";
}

/** One pass over a migration: what is known about it, and what it should become. */
export class MigrationPass {
  readonly view: MigrationView;
  /** As it was read, or, in a later round of the pass, as earlier rounds want it. */
  migration: VirtualMachineInstanceMigration;
  /** As it was read, or as this pass wrote it. */
  vmi: VirtualMachineInstance;
  readonly config: MigrationPlanConfig;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly draft: PlanDraft;
  /** The migration as it should be; the rules change it one after the other. */
  status: VirtualMachineInstanceMigrationStatus;
  /** What it is compared with: a status that says nothing new is not written. */
  before: VirtualMachineInstanceMigrationStatus;
  /** Why the last phase could not do all its work. */
  failure: PlanError | undefined;
  /** Whether this pass creates the target Pod. */
  createsTarget = false;
  readonly requeues: Requeue[] = [];
  /** Absent if the plan should be KubeVirt's. */
  readonly grant: RunGrant | undefined;
  readonly resources: VmResources;

  constructor(
    view: MigrationView,
    migration: VirtualMachineInstanceMigration,
    vmi: VirtualMachineInstance,
    { config, now, draft }: { config: MigrationPlanConfig; now: number; draft: PlanDraft },
  ) {
    this.view = view;
    this.migration = migration;
    this.vmi = vmi;
    this.config = config;
    this.now = now;
    this.draft = draft;
    this.status = migration.status ?? {};
    this.before = this.status;
    this.grant = view.grant && new RunGrant(vmi, config.cluster.names, view.grant);
    this.resources = vmResources(config.cluster.names);
  }

  /** Whether each phase takes its own pass. */
  get isStepwise(): boolean {
    return this.config.phases === "each";
  }

  /** Writes the VMI like this; later rounds of the pass see the change. */
  wrote(vmi: VirtualMachineInstance): void {
    if (!this.isStepwise) this.vmi = vmi;
  }

  get names(): Names {
    return this.config.cluster.names;
  }

  get namespace(): string {
    return text(this.migration.metadata?.namespace);
  }

  get name(): string {
    return text(this.migration.metadata?.name);
  }

  get uid(): string {
    return text(this.migration.metadata?.uid);
  }

  get time(): string {
    return timestamp(this.now);
  }

  /** Whether somebody wants to stop the migration. */
  get isCancelled(): boolean {
    return Boolean(this.migration.metadata?.deletionTimestamp);
  }

  /** The Pod that is to receive the guest: made for this migration, and controlled by the VMI. */
  get targetPod(): PodObject | undefined {
    return this.view.pods.find((pod) => isTargetPodOf(pod, this.migration, this.vmi, this.names));
  }

  /** The Pod that brings hotplugged volumes to the target. */
  get attachmentPod(): PodObject | undefined {
    const { targetPod } = this;
    return targetPod && this.view.pods.find((pod) => isControlledBy(pod, targetPod));
  }

  /** The Pod that the guest runs in. */
  get sourcePod(): PodObject | undefined {
    return currentPod({ vmi: this.vmi, pods: this.view.pods });
  }

  event(type: "Normal" | "Warning", reason: string, message: string): void {
    this.draft.event({ type, reason, message });
  }

  /** Adds an event about the VMI. */
  vmiEvent(type: "Normal" | "Warning", reason: string, message: string): void {
    const subject = about(this.vmi, this.resources.vmis);
    this.draft.event({ type, reason, message, about: subject });
  }

  /** Looks again later, before migrations that only wait to start. */
  recheck(afterSeconds: number): void {
    this.requeue({ afterSeconds, priority: queuePriority.running });
  }

  /** Waits for its turn with all others that wait. */
  wait(afterSeconds: number): void {
    this.requeue({ afterSeconds, priority: migrationPriority(this.migration) });
  }

  requeue(requeue: Requeue): void {
    this.requeues.push(requeue);
    if (requeue.key === undefined) this.draft.requeueAfter(requeue.afterSeconds);
  }

  condition(type: string): Condition | undefined {
    return findCondition(conditionsOf(this), type);
  }

  setCondition(condition: Pick<Condition, "type" | "status" | "reason" | "message">): void {
    this.#setConditions(
      setCondition(conditionsOf(this), { ...condition, lastProbeTime: this.time }),
    );
  }

  removeCondition(type: string): void {
    if (this.condition(type)) this.#setConditions(removeCondition(conditionsOf(this), type));
  }

  #setConditions(conditions: readonly Condition[]): void {
    this.status = {
      ...this.status,
      conditions: conditions as VirtualMachineInstanceMigrationCondition[],
    };
  }
}

/** Whether a Pod was created to receive the guest of a VMI in this migration. */
export function isTargetPodOf(
  pod: PodObject,
  { metadata }: VirtualMachineInstanceMigration,
  vmi: VirtualMachineInstance,
  { labels }: Names,
): boolean {
  const own = pod.metadata?.labels ?? {};
  return (
    isControlledBy(pod, vmi) &&
    own[labels.app] === "virt-launcher" &&
    own[labels.migrationJobUid] === text(metadata?.uid)
  );
}
