import { isDeepStrictEqual } from "node:util";
import { readMemory } from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { proofsFromNode } from "@virtkit/api/proofs";
import { at, entry, text } from "@virtkit/api/shape";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import type { CacheChange } from "@virtkit/kube/cache";
import { stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { known } from "../plan/object-source.ts";
import { controllerOf } from "../plan/ownership.ts";
import type { VmiCaches } from "../vmi/vmi-caches.ts";
import { vmiReconciler } from "../vmi/vmi-reconciler.ts";
import { vmiSources } from "../vmi/vmi-sources.ts";
import { configWatch, namesIn } from "./config-watch.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import type { SharedCaches } from "./shared-caches.ts";
import { sharedWatch, syncedFirst } from "./shared-watch.ts";

/** VMIs and their Pods, until a node agent takes over, and at the end of the VMI. */
export const vmiPart: ControllerPartMaker = { name: "vmi", make };

function make(context: PartContext): ControllerPart {
  const { caches, client, names } = context;
  const sources = vmiSources({
    caches: vmiCaches(caches),
    client,
    names,
    isBehind: () => false,
  });
  const config = () => context.config();
  const wall = () => context.wall();
  return {
    concurrency: 10,
    watches: watches(context),
    reconcile: async (vmi, request) => {
      const { behindFor, ...runner } = context.runner(vmi);
      if (behindFor > 0) return { requeueAfter: behindFor };
      return await vmiReconciler({ ...runner, sources, config, wall })(vmi, request);
    },
  };
}

/** The caches that a view of a VMI is built from. */
export function vmiCaches(caches: SharedCaches): VmiCaches {
  const { networkAttachmentDefinitions, dataVolumes, storageProfiles, cdis, cdiConfigs } = caches;
  return {
    vmis: caches.vmis,
    vms: caches.vms,
    pods: caches.pods,
    claims: caches.claims,
    migrations: caches.migrations,
    nodes: caches.nodes,
    namespaces: caches.namespaces,
    configMaps: caches.configMaps,
    resourceQuotas: caches.resourceQuotas,
    storageClasses: caches.storageClasses,
    ...(networkAttachmentDefinitions && { networkAttachmentDefinitions }),
    ...(dataVolumes && { dataVolumes }),
    ...(storageProfiles && { storageProfiles }),
    ...(cdis && { cdis }),
    ...(cdiConfigs && { cdiConfigs }),
  };
}

function watches({ caches, names }: PartContext): ControllerPart["watches"] {
  const { vmis, pods, migrations, claims, dataVolumes, vms, nodes } = caches;
  const proofs = (node: KubeObject | undefined) => node && proofsFromNode(node);
  const provesMore = ({ old, object }: CacheChange<KubeObject>): boolean =>
    !isDeepStrictEqual(proofs(old), proofs(object));
  return [
    sharedWatch(vmis),
    sharedWatch(pods, { keys: (pod) => vmiOfPod(pod, caches) }),
    sharedWatch(migrations, {
      keys: ({ metadata, spec }) => named(metadata.namespace, text(spec?.vmiName)),
    }),
    sharedWatch(claims, { keys: (claim) => vmisOfClaim(claim, caches) }),
    ...(dataVolumes
      ? [sharedWatch(dataVolumes, { keys: (volume) => vmisOfClaim(volume, caches) })]
      : []),
    // If a VM is gone or has released itself, nobody else removes its finalizer.
    sharedWatch(vms, { predicate: ({ old, object }) => hasLetGo(old, object, names) }),
    sharedWatch(nodes, { keys: (node) => vmisOn(node, caches), predicate: provesMore }),
    configWatch(caches, {
      reads: (kubevirt) => configOfVmis(kubevirt, names),
      keys: () => namesIn(vmis),
    }),
    ...syncedFirst([
      caches.namespaces,
      caches.configMaps,
      caches.resourceQuotas,
      caches.storageClasses,
      caches.networkAttachmentDefinitions,
      caches.storageProfiles,
      caches.cdis,
      caches.cdiConfigs,
    ] as never[]),
  ];
}

/**
 * What plans for VMIs read besides the configuration of new Pods. A VMI whose Pod cannot be created is looked at again in any
 * case.
 */
function configOfVmis(kubevirt: KubeObject | undefined, { annotations }: Names): unknown {
  const configuration = at(kubevirt, "spec", "configuration");
  return [
    entry(kubevirt?.metadata.annotations, annotations.skipBackupHooks),
    at(configuration, "additionalGuestMemoryOverheadRatio"),
    at(configuration, "developerConfiguration"),
    at(configuration, "network"),
  ];
}

/** Whether a VM is gone, has released itself, or remembers something new. */
function hasLetGo(
  old: KubeObject | undefined,
  object: KubeObject | undefined,
  names: Names,
): boolean {
  if (!object) return true;
  const isHeld = (vm: KubeObject | undefined): boolean =>
    vm?.metadata.finalizers?.includes(names.finalizers.vm) === true;
  if (isHeld(old) && !isHeld(object)) return true;
  return !isDeepStrictEqual(readMemory(old, names), readMemory(object, names));
}

function named(namespace: string | undefined, name: string): readonly ObjectName[] {
  return namespace === undefined || name === "" ? [] : [{ namespace, name }];
}

/** The VMI of a launcher Pod, or of the launcher that an attachment Pod serves. */
function vmiOfPod(pod: KubeObject, { pods }: SharedCaches): readonly ObjectName[] {
  const { namespace = "" } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner?.kind === "VirtualMachineInstance") return named(namespace, owner.name);
  if (owner?.kind !== "Pod") return [];
  const launcher = pods.get({ namespace, name: owner.name });
  if (launcher.state !== "present") return [];
  const vmi = controllerOf(launcher.object);
  return vmi?.kind === "VirtualMachineInstance" ? named(namespace, vmi.name) : [];
}

/** The VMIs whose volumes use a claim or DataVolume, and the VMI whose state it holds. */
function vmisOfClaim(
  { metadata: { namespace, name = "", labels } }: KubeObject,
  { vmis }: SharedCaches,
): readonly ObjectName[] {
  const found = vmis.byIndex("claim", `${namespace ?? ""}/${name}`);
  const users = found.state === "complete" ? found.objects : found.seen;
  return [
    ...users.flatMap((vmi) => named(vmi.metadata.namespace, text(vmi.metadata.name))),
    ...named(namespace, text(labels?.[stateClaimLabel])),
  ];
}

function vmisOn({ metadata }: KubeObject, { vmis, pods }: SharedCaches): readonly ObjectName[] {
  const node = text(metadata.name);
  if (!vmis.hasSynced || !pods.hasSynced) return [];
  return [
    ...known(vmis.byIndex("node", node)).flatMap((vmi) =>
      named(vmi.metadata.namespace, text(vmi.metadata.name)),
    ),
    ...known(pods.byIndex("node", node)).flatMap((pod) => vmiOfPod(pod, { pods } as SharedCaches)),
  ];
}
