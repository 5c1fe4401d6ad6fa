import { wallTime } from "@virtkit/api/clock";
import {
  type MigrationPolicy,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import {
  decentralizedAntiAffinity,
  type ExistingPod,
  hostModelSelector,
  targetAntiAffinity,
  targetSelinux,
} from "@virtkit/launcher-pod";
import {
  acceptableCompletionSeconds,
  clusterMigrationOptions,
  type EvacuatedNode,
  type EvacuationScene,
  isOutOfTime,
  isPendingUnschedulable,
  migrationDataSize,
  migrationPriority,
  pendingPodTimeouts,
  planEvacuation,
  requeueDelaySeconds,
  resolveMigrationOptions,
} from "@virtkit/migration/policy";
import type { BatchFunction } from "../batch/batch-area.ts";
import { readAsGo } from "./go-form.ts";
import { InputError, listField, objectField } from "./input-fields.ts";
import { contextConfig, contextTime } from "./request-context.ts";

type Labels = Readonly<Record<string, string>>;

interface MigrationInput {
  readonly vmi?: VirtualMachineInstance;
  readonly node?: EvacuatedNode;
  readonly migration: VirtualMachineInstanceMigration;
  readonly priority: number;
  readonly pod?: ExistingPod;
  readonly selinuxContext?: string;
  readonly sourceNodeSelector?: Readonly<Record<string, string>>;
  readonly ephemeralDisksBytes?: number;
}

/** Fields of any shape; only the input itself must be an object. */
const read = (input: unknown): MigrationInput => Object(input) as MigrationInput;

const asVmi = (value: unknown): VirtualMachineInstance =>
  readAsGo(value, VirtualMachineInstanceSchema) as VirtualMachineInstance;

/** The functions of area `migration`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  resolveMigrationConfig: (input, context) => {
    const config = contextConfig(context);
    const labels = at(input, "namespace", "metadata", "labels") as Labels | undefined;
    const policies = listField<MigrationPolicy>(input, "policies");
    const vmi = asVmi(objectField(input, "vmi"));
    const { options, policy } = resolveMigrationOptions(vmi, labels, policies, config);
    return {
      clusterOptions: clusterMigrationOptions(config),
      matchedPolicy: policy ? (policy.metadata?.name ?? "") : null,
      resolved: options,
    };
  },

  priority: (input) => {
    const priority = migrationPriority(read(input).migration);
    return { priority, requeueDelaySeconds: requeueDelaySeconds(priority) };
  },

  requeueDelay: (input) => ({ requeueDelaySeconds: requeueDelaySeconds(read(input).priority) }),

  evacuationSelect: (input, context) => {
    const scene: EvacuationScene = {
      node: read(input).node ?? {},
      vmis: listField(input, "vmis").map(asVmi),
      migrations: listField(input, "migrations"),
      pods: listField(input, "pods"),
    };
    const plan = planEvacuation(
      scene,
      contextConfig(context),
      contextTime(context) ?? wallTime().getTime(),
    );
    const created = plan.evacuations.map(({ migration }) => recordedMigration(migration));
    return {
      selected: plan.evacuations.map(({ vmi }) => keyOf(vmi)),
      nonMigratable: plan.stuck.map(keyOf),
      createdMigrations: created.length > 0 ? created : null,
    };
  },

  pendingPodTimeouts: (input) => {
    const { migration, pod } = read(input);
    const podPendingUnschedulable = pod && isPendingUnschedulable(pod);
    return { ...pendingPodTimeouts(migration), podPendingUnschedulable };
  },

  targetPodSELinux: (input) => {
    const { pod, selinuxContext } = read(input);
    return { result: targetSelinux(pod?.spec?.securityContext, selinuxContext) ?? null };
  },

  targetPodAntiAffinity: (input) => {
    const { pod, vmi } = read(input);
    return { affinity: targetAntiAffinity(pod?.spec?.affinity, vmi?.metadata?.uid ?? "") };
  },

  decentralizedAntiAffinity: (input) => {
    const vmi = asVmi(objectField(input, "vmi"));
    return { affinity: decentralizedAntiAffinity(read(input).pod?.spec?.affinity, vmi) };
  },

  hostModelNodeSelector: (input) => {
    const { node, sourceNodeSelector } = read(input);
    return { result: hostModelSelector(node?.metadata?.labels ?? {}, sourceNodeSelector ?? {}) };
  },

  completionTimeout: (input, context) => {
    const { ephemeralDisksBytes } = read(input);
    const elapsedSeconds = at(input, "elapsedSeconds") ?? [];
    if (!Array.isArray(elapsedSeconds)) {
      throw new InputError("input.elapsedSeconds", "is not a list; pass a list of numbers");
    }
    const { completionTimeoutPerGiB } = contextConfig(context).migrations;
    const dataSizeUnits = migrationDataSize(asVmi(read(input).vmi), ephemeralDisksBytes);
    const acceptable = acceptableCompletionSeconds(dataSizeUnits, completionTimeoutPerGiB);
    const triggered = elapsedSeconds.map((elapsed) => [
      `${elapsed}`,
      isOutOfTime(elapsed, acceptable),
    ]);
    return {
      dataSizeUnits,
      acceptableCompletionTimeSeconds: acceptable,
      timeoutTriggered: Object.fromEntries(triggered),
    };
  },
};

function keyOf({ metadata }: VirtualMachineInstance): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/** A migration as it is recorded: the request that creates it says its kind and namespace. */
function recordedMigration({ metadata, spec }: VirtualMachineInstanceMigration): unknown {
  const { namespace: _, ...rest } = metadata ?? {};
  return { metadata: rest, spec, status: {} };
}
