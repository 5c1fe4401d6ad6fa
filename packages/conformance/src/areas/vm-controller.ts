import {
  type VirtualMachine,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";
import { at, type JsonObject, objects } from "@virtkit/api/shape";
import { planVm, type VmOptions, type VmPassView } from "@virtkit/controller/vm";
import type { KubeObject } from "@virtkit/kube";
import type { BatchFunction } from "../batch/batch-area.ts";
import { type ReconcileCase, type Reconciler, reconcileCase } from "../reconcile/reconcile-case.ts";
import { readAsGo } from "./go-form.ts";

/** How cases of area `vm-controller` are answered. */
export const vmReconciler: Reconciler<VirtualMachine> = {
  plural: "virtualMachines",
  plan: (given, outcomes, context) =>
    planVm(viewOf(given, context), given.config, given.now, outcomes, vmOptions(context)),
};

/** The settings of a case's controller. */
export function vmOptions(context: unknown): VmOptions {
  return {
    syncedAnnotations: texts(at(context, "flags", "additionalLauncherAnnotationsSync")),
    syncedLabels: texts(at(context, "flags", "additionalLauncherLabelsSync")),
  };
}

/** The functions of area `vm-controller`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  reconcile: async (input, context) => {
    const answer = await reconcileCase(input, context, vmReconciler);
    return withoutJitter(answer, input);
  },
};

/** A time that a pass has set at random is recorded as `*`. */
function withoutJitter(answer: unknown, input: unknown): unknown {
  const before = new Set(
    objects(at(input, "objects", "virtualMachines")).map((vm) => at(vm, ...retryTime)),
  );
  const after = Object.entries(Object(at(answer, "after")) as object).map(([key, object]) => {
    const time = at(object, ...retryTime);
    const isNew = time !== undefined && !before.has(time);
    return [key, isNew ? withRetryTime(object, "*") : object];
  });
  return { ...Object(answer), after: Object.fromEntries(after) };
}

const retryTime = ["status", "startFailure", "retryAfterTimestamp"] as const;

function withRetryTime(object: { status: JsonObject }, time: string): unknown {
  const startFailure = { ...Object(object.status["startFailure"]), retryAfterTimestamp: time };
  return { ...object, status: { ...object.status, startFailure } };
}

function viewOf(given: ReconcileCase<VirtualMachine>, context: unknown): VmPassView {
  const { subject, cluster, expected } = given;
  const { name, namespace } = (subject as unknown as KubeObject).metadata;
  const inNamespace = <T>(plural: string): readonly T[] =>
    cluster.cached<T & KubeObject>(plural).filter((item) => item.metadata.namespace === namespace);
  const vmi = inNamespace<KubeObject>("virtualMachineInstances").find(
    ({ metadata }) => metadata.name === name,
  );
  const vmiRead = vmi && readAsGo(vmi, VirtualMachineInstanceSchema);
  return {
    vm: readAsGo(subject, VirtualMachineSchema) as VirtualMachine,
    vmi: vmiRead as VmPassView["vmi"],
    dataVolumes: cluster.cached("dataVolumes") as VmPassView["dataVolumes"],
    claims: cluster.cached("persistentVolumeClaims") as VmPassView["claims"],
    dataSources: cluster.cached("dataSources") as VmPassView["dataSources"],
    revisions: inNamespace("controllerRevisions"),
    instancetypes: cluster.cached("virtualMachineInstancetypes"),
    clusterInstancetypes: cluster.cached("virtualMachineClusterInstancetypes"),
    preferences: cluster.cached("virtualMachinePreferences"),
    clusterPreferences: cluster.cached("virtualMachineClusterPreferences"),
    namespaceLabels: cluster
      .cached("namespaces")
      .find(({ metadata }) => metadata.name === namespace)?.metadata.labels,
    expected: { vmi: expected("vmi"), dataVolume: expected("dataVolume") },
    mayClone: () => at(context, "flags", "cloneAuthorized") !== false,
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
