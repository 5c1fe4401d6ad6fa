import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { at, objects, text } from "@virtkit/api/shape";
import { carryOut } from "@virtkit/controller/plan";
import {
  type LabelledObject,
  planVmi,
  type VmiPlan,
  type VmiPlanConfig,
  type VmiView,
} from "@virtkit/controller/vmi";
import { type ClusterObjects, kubevirtLauncherProfile, lookupIn } from "@virtkit/launcher-pod";
import type { BatchFunction } from "../batch/batch-area.ts";
import { reconcileAnswer } from "../reconcile/reconcile-answer.ts";
import { RecordedCluster } from "../reconcile/recorded-cluster.ts";
import type { Pass } from "../reconcile/settle-case.ts";
import { textField, textsField } from "./input-fields.ts";
import { contextConfig, contextTime } from "./request-context.ts";

const profile = kubevirtLauncherProfile({ image: "virt-launcher:v1" });

/** The functions of area `vmi-controller`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const { plan, cluster, vmi } = await reconcileVmi(input, context);
    return reconcileAnswer(plan, cluster, vmi);
  },
};

/** One pass over the objects of a case, and what came of it. */
export async function reconcileVmi(
  input: unknown,
  context: unknown,
): Promise<{
  readonly plan: VmiPlan;
  readonly cluster: RecordedCluster;
  readonly vmi: VirtualMachineInstance | undefined;
}> {
  const cluster = new RecordedCluster(input, context);
  const view = viewOf(cluster, textField(input, "key"), context);
  const config = vmiConfig(context);
  const now = contextTime(context) ?? 0;
  const plan = await carryOut((outcomes) => planVmi(view, config, now, outcomes), cluster);
  return { plan, cluster, vmi: view.vmi };
}

/** The configuration of a case, for a controller that works as KubeVirt's does. */
export function vmiConfig(context: unknown): VmiPlanConfig {
  const flags = at(context, "flags");
  const kubevirt = {
    configuration: at(context, "configuration"),
    annotations: at(context, "kubevirtAnnotations"),
  };
  return {
    cluster: contextConfig({ kubevirt }),
    profile,
    podNames: "generated",
    stepByStep: true,
    syncedAnnotations: textsField(flags, "additionalLauncherAnnotationsSync", "context.flags"),
    syncedLabels: textsField(flags, "additionalLauncherLabelsSync", "context.flags"),
  };
}

/** Passes over a VMI as {@link reconcileVmi} makes them, with caches that are never behind. */
export function recordedVmiPass(key: string, config: VmiPlanConfig): Pass {
  return async (cluster, now) => {
    const view = viewOf(cluster, key, {});
    await carryOut((outcomes) => planVmi(view, config, now, outcomes), cluster);
  };
}

/** What the controller's caches say of the VMI. */
function viewOf(cluster: RecordedCluster, key: string, context: unknown): VmiView {
  const [namespace = "", name = ""] = key.split("/");
  const within = <T extends LabelledObject>(plural: string): readonly T[] =>
    cluster.cached<T>(plural).filter(({ metadata }) => metadata?.namespace === namespace);
  const named = <T extends LabelledObject>(plural: string, wanted: string): T | undefined =>
    within<T>(plural).find(({ metadata }) => metadata?.name === wanted);
  const vmi = named<VirtualMachineInstance>("virtualMachineInstances", name);
  const owner = objects(vmi?.metadata?.ownerReferences).find(
    ({ controller }) => controller === true,
  );
  const isAboutVmi = ({ spec }: VirtualMachineInstanceMigration): boolean => spec?.vmiName === name;
  const cdiConfigs = cluster.cached<LabelledObject>("cdiConfigs");
  return {
    vmi,
    pods: within("pods"),
    claims: within("persistentVolumeClaims"),
    dataVolumes: within("dataVolumes"),
    migrations: within<VirtualMachineInstanceMigration>("virtualMachineInstanceMigrations").filter(
      isAboutVmi,
    ),
    vm: named("virtualMachines", text(owner?.["name"])),
    storageClasses: cluster.cached("storageClasses"),
    storageProfiles: cluster.cached("storageProfiles"),
    cdi: {
      instances: cluster.cached("cdis").length,
      config: cdiConfigs.find(({ metadata }) => metadata?.name === "config"),
    },
    nodes: () => cluster.cached("nodes"),
    vmis: () => cluster.cached("virtualMachineInstances"),
    lookup: lookupIn({
      persistentVolumeClaims: cluster.cached("persistentVolumeClaims"),
      networkAttachmentDefinitions: cluster.cached("networkAttachmentDefinitions"),
      configMaps: cluster.cached("configMaps"),
      namespaces: cluster.cached("namespaces"),
      resourceQuotas: cluster.cached("resourceQuotas"),
    } as ClusterObjects),
    isBehind: Object.keys(Object(at(context, "expectations"))).length > 0,
  };
}
