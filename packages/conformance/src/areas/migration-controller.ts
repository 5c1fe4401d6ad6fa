import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { at, isObject, text } from "@virtkit/api/shape";
import {
  isTargetPodOf,
  type MigrationPlan,
  type MigrationView,
  planMigration,
  recoveryJobName,
} from "@virtkit/controller/migration";
import { carryOut } from "@virtkit/controller/plan";
import type { PodObject } from "@virtkit/controller/vmi";
import { type ClusterObjects, kubevirtLauncherProfile, lookupIn } from "@virtkit/launcher-pod";
import type { BatchFunction } from "../batch/batch-area.ts";
import { reconcileAnswer } from "../reconcile/reconcile-answer.ts";
import { RecordedCluster } from "../reconcile/recorded-cluster.ts";
import { textField } from "./input-fields.ts";
import { contextConfig, contextTime } from "./request-context.ts";

const profile = kubevirtLauncherProfile({ image: "virt-launcher:v1" });

/** The functions of area `migration-controller`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const cluster = new RecordedCluster(input, context);
    const kubevirt = {
      configuration: at(context, "configuration"),
      annotations: at(context, "kubevirtAnnotations"),
    };
    const config = {
      cluster: contextConfig({ kubevirt }),
      profile,
      podNames: "generated" as const,
      phases: "each" as const,
    };
    const view = viewOf(cluster, textField(input, "key"), context, config.cluster.names);
    const now = contextTime(context) ?? 0;
    const plan = await carryOut((outcomes) => planMigration(view, config, now, outcomes), cluster);
    return withQueue(reconcileAnswer(plan, cluster, view.migration), plan);
  },
};

/** What is put back into the queue, with its place there. */
function withQueue(answer: unknown, { requeues = [] }: MigrationPlan): unknown {
  return isObject(answer) ? { ...answer, requeue: requeues } : answer;
}

/** What the controller's caches say of the migration. */
function viewOf(
  cluster: RecordedCluster,
  key: string,
  context: unknown,
  names: Parameters<typeof isTargetPodOf>[3],
): MigrationView {
  const [namespace = "", name = ""] = key.split("/");
  const migrations = cluster.cached<VirtualMachineInstanceMigration>(
    "virtualMachineInstanceMigrations",
  );
  const vmis = cluster.cached<VirtualMachineInstance>("virtualMachineInstances");
  const pods = cluster.cached<PodObject>("pods");
  const migration = migrations.find(
    ({ metadata }) => metadata?.namespace === namespace && metadata.name === name,
  );
  const vmiOf = ({ metadata, spec }: VirtualMachineInstanceMigration) =>
    vmis.find(
      (vmi) =>
        vmi.metadata?.namespace === metadata?.namespace && vmi.metadata?.name === spec?.vmiName,
    );
  const within = <T extends { readonly metadata?: { readonly namespace?: string } }>(
    plural: string,
  ): readonly T[] =>
    cluster.cached<T>(plural).filter(({ metadata }) => metadata?.namespace === namespace);
  const expected = (kind: string): unknown => at(context, "expectations", kind);
  const addresses = at(context, "flags", "synchronizationAddresses");
  return {
    migration,
    vmi: migration && vmiOf(migration),
    pods: within("pods"),
    claims: within("persistentVolumeClaims"),
    migrations,
    vmiOf,
    hasTargetPod: (other) => {
      const vmi = vmiOf(other);
      return vmi !== undefined && pods.some((pod) => isTargetPodOf(pod, other, vmi, names));
    },
    nodes: () => cluster.cached("nodes"),
    namespace: cluster
      .live("namespaces")
      .find(({ metadata }) => metadata.name === namespace) as MigrationView["namespace"],
    policies: cluster.cached("migrationPolicies"),
    storageClasses: cluster.cached("storageClasses"),
    storageProfiles: cluster.cached("storageProfiles"),
    recoveryJob: within<NonNullable<MigrationView["recoveryJob"]>>("jobs").find(
      (job) => text(at(job, "metadata", "name")) === recoveryJobName(name),
    ),
    lookup: lookupIn({
      persistentVolumeClaims: cluster.cached("persistentVolumeClaims"),
      networkAttachmentDefinitions: cluster.cached("networkAttachmentDefinitions"),
      configMaps: cluster.cached("configMaps"),
      namespaces: cluster.cached("namespaces"),
      resourceQuotas: cluster.cached("resourceQuotas"),
    } as ClusterObjects),
    synchronizationAddresses: Array.isArray(addresses) ? addresses.map(String) : undefined,
    isBehind: ["creation", "deletion"].includes(text(expected("pod"))) || Boolean(expected("pvc")),
    isAnyBehind: expected("pod") === "otherCreation",
    isHandedOff: Boolean(expected("handedOff")),
  };
}
