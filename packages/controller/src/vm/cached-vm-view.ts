import type { VirtualMachine } from "@virtkit/api/schema";
import { at, text } from "@virtkit/api/shape";
import { clonedClaims } from "@virtkit/api/status/vm";
import type { ObjectName } from "@virtkit/kube";
import { uidOf } from "../plan/object-name.ts";
import { known, knownObject, type ObjectSource, whenKnown } from "../plan/object-source.ts";
import { usedClaims, usedDataSources } from "./used-names.ts";
import type { VmCaches } from "./vm-caches.ts";
import type { ControllerRevision, TypeObject, VmPassView } from "./vm-view.ts";

/**
 * What the caches know about a VM: `absent` if it does not exist, undefined until all caches have
 * synced.
 */
export function cachedVmView(
  caches: VmCaches,
  name: ObjectName,
): VmPassView | "absent" | undefined {
  return whenKnown(() => {
    const vm = knownObject(caches.vms.get(name));
    return vm ? viewOf(caches, name, vm) : "absent";
  });
}

function viewOf(caches: VmCaches, name: ObjectName, vm: VirtualMachine): VmPassView {
  const { namespace = "" } = name;
  const vmi = knownObject(caches.vmis.get(name));
  const used = usedClaims(vm, vmi).map((each) => ({ namespace, name: each }));
  const dataSources = found(caches.dataSources, usedDataSources(vm));
  // A plan also asks whether the claims exist that it clones.
  const claims = [...used, ...clonedClaims(vm, { dataSources })];
  return {
    vm,
    vmi,
    claims: found(caches.claims, claims) as VmPassView["claims"],
    dataVolumes: found(caches.dataVolumes, used) as VmPassView["dataVolumes"],
    dataSources,
    isWithoutCdi: !caches.dataVolumes,
    revisions: revisionsOf(caches, namespace, vm),
    ...typesOf(caches, namespace, vm),
    namespaceLabels: knownObject(caches.namespaces.get({ name: namespace }))?.metadata.labels,
    grant: {
      isLive: false,
      pods: known(caches.pods.byIndex("vmi", `${namespace}/${name.name}`)),
      nodes: [],
    },
  };
}

/** The objects of these names that exist, each once. */
function found<T>(source: ObjectSource<T> | undefined, names: readonly ObjectName[]): readonly T[] {
  if (!source) return [];
  return [...new Set(names.flatMap((each) => knownObject(source.get(each)) ?? []))];
}

/** The VM's own revisions, and those that its matchers name. */
function revisionsOf(
  { revisions }: VmCaches,
  namespace: string,
  vm: VirtualMachine,
): readonly ControllerRevision[] {
  const named = ["instancetype", "preference"].flatMap((kind) => [
    text(at(vm, "spec", kind, "revisionName")),
    text(at(vm, "status", `${kind}Ref`, "controllerRevisionRef", "name")),
  ]);
  const names = named.filter((name) => name !== "").map((name) => ({ namespace, name }));
  const own = known(revisions.byIndex("controller", uidOf(vm)));
  return [...new Set([...own, ...found(revisions, names)])];
}

function typesOf(
  caches: VmCaches,
  namespace: string,
  vm: VirtualMachine,
): Pick<
  VmPassView,
  "instancetypes" | "clusterInstancetypes" | "preferences" | "clusterPreferences"
> {
  const find = (source: ObjectSource<TypeObject>, kind: string, isCluster: boolean) => {
    const name = text(at(vm, "spec", kind, "name"));
    if (name === "") return [];
    return found(source, [isCluster ? { name } : { namespace, name }]);
  };
  return {
    instancetypes: find(caches.instancetypes, "instancetype", false),
    clusterInstancetypes: find(caches.clusterInstancetypes, "instancetype", true),
    preferences: find(caches.preferences, "preference", false),
    clusterPreferences: find(caches.clusterPreferences, "preference", true),
  };
}
