import { isControllerError } from "@virtkit/controller/plan";
import { type VmCaches, type VmConfig, type VmOptions, vmReconciler } from "@virtkit/controller/vm";
import { podIndexes } from "@virtkit/controller/vmi";
import type { KubeClient, KubeObject } from "@virtkit/kube";
import type { RecordedCluster } from "./recorded-cluster.ts";
import { recordedReads, recordedSource } from "./recorded-source.ts";
import type { Pass } from "./settle-case.ts";

/** How a case's VMs are reconciled. */
export interface ProductionVmOptions {
  readonly config: VmConfig;
  readonly options: VmOptions;
  /** Whether the API server answers that clones are permitted. */
  readonly mayClone: boolean;
}

/** Passes over a VM as the controllers make them: through caches, with a run grant, and with live reads. */
export function productionVmPass(
  key: string,
  { config, options, mayClone }: ProductionVmOptions,
): Pass {
  const [namespace = "", name = ""] = key.split("/");
  const create: KubeClient["create"] = async (_, review) =>
    ({ ...review, status: { allowed: mayClone } }) as typeof review;
  return async (cluster, now) => {
    const reconcile = vmReconciler({
      caches: vmCaches(cluster),
      client: { ...recordedReads(cluster), create },
      config: () => config,
      options,
      wall: () => new Date(now),
      target: cluster,
      record: () => undefined,
    });
    await reconcile({ namespace, name }).catch((error: unknown) => {
      // A pass that could not do everything is repeated.
      if (!isControllerError(error)) throw error;
    });
  };
}

function vmCaches(cluster: RecordedCluster): VmCaches {
  const source = <T>(plural: string) => recordedSource<T>(cluster, plural);
  return {
    vms: source("virtualMachines"),
    vmis: source("virtualMachineInstances"),
    pods: recordedSource(cluster, "pods", podIndexes),
    claims: source("persistentVolumeClaims"),
    revisions: recordedSource(cluster, "controllerRevisions", { controller: controllerUid }),
    instancetypes: source("virtualMachineInstancetypes"),
    clusterInstancetypes: source("virtualMachineClusterInstancetypes"),
    preferences: source("virtualMachinePreferences"),
    clusterPreferences: source("virtualMachineClusterPreferences"),
    namespaces: source("namespaces"),
    dataVolumes: source("dataVolumes"),
    dataSources: source("dataSources"),
  };
}

function controllerUid({ metadata }: KubeObject): readonly string[] {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner ? [owner.uid] : [];
}
