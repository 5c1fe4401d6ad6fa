import {
  type MigrationPolicy,
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import {
  decentralizedAntiAffinity,
  type ExistingPod,
  hostModelSelector,
  type NamedObject,
  targetAntiAffinity,
  targetSelinux,
} from "@virtkit/launcher-pod";
import {
  acceptableCompletionSeconds,
  clusterMigrationOptions,
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
import type { BatchFunction } from "./batch-area.ts";
import { readAsGo } from "./go-form.ts";
import { contextConfig, requestContext } from "./request-context.ts";

interface MigrationInput extends Partial<EvacuationScene> {
  readonly vmi: VirtualMachineInstance;
  readonly namespace?: NamedObject;
  readonly policies?: readonly MigrationPolicy[];
  readonly migration: VirtualMachineInstanceMigration;
  readonly priority: number;
  readonly pod?: ExistingPod;
  readonly selinuxContext?: string;
  readonly sourceNodeSelector?: Readonly<Record<string, string>>;
  readonly elapsedSeconds?: readonly number[];
  readonly ephemeralDisksBytes?: number;
}

const asVmi = (value: unknown): VirtualMachineInstance =>
  readAsGo(value, VirtualMachineInstanceSchema) as VirtualMachineInstance;

const read = (input: unknown): MigrationInput => {
  const fields = Object(input) as MigrationInput;
  return { ...fields, vmi: asVmi(fields.vmi), vmis: fields.vmis?.map(asVmi) ?? [] };
};

/** The functions of oracle area `migration`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  resolveMigrationConfig: (input, context) => {
    const { vmi, namespace, policies = [] } = read(input);
    const config = contextConfig(requestContext(context));
    const labels = namespace?.metadata.labels;
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
    const { node = {}, vmis = [], migrations = [], pods = [] } = read(input);
    const plan = planEvacuation(
      { node, vmis, migrations, pods },
      contextConfig(requestContext(context)),
      now(context),
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
    return { affinity: targetAntiAffinity(pod?.spec?.affinity, vmi.metadata?.uid ?? "") };
  },

  decentralizedAntiAffinity: (input) => {
    const { pod, vmi } = read(input);
    return { affinity: decentralizedAntiAffinity(pod?.spec?.affinity, vmi) };
  },

  hostModelNodeSelector: (input) => {
    const { node, sourceNodeSelector = {} } = read(input);
    return { result: hostModelSelector(node?.metadata?.labels ?? {}, sourceNodeSelector) };
  },

  completionTimeout: (input, context) => {
    const { vmi, ephemeralDisksBytes, elapsedSeconds = [] } = read(input);
    const { completionTimeoutPerGiB } = contextConfig(requestContext(context)).migrations;
    const dataSizeUnits = migrationDataSize(vmi, ephemeralDisksBytes);
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

function now(context: unknown): number {
  const { now: text } = requestContext(context);
  return text === undefined ? Date.now() : Date.parse(text);
}

function keyOf({ metadata }: VirtualMachineInstance): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/** A migration as it is recorded: the request that creates it says its kind and namespace. */
function recordedMigration({ metadata, spec }: VirtualMachineInstanceMigration): unknown {
  const { namespace: _, ...rest } = metadata ?? {};
  return { metadata: rest, spec, status: {} };
}
