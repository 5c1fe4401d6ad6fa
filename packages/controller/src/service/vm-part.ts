import { isDeepStrictEqual } from "node:util";
import { at } from "@virtkit/api/shape";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import { controllerOf } from "../plan/ownership.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { OwnStatuses } from "../vm/own-statuses.ts";
import { vmReconciler } from "../vm/vm-reconciler.ts";
import type { VmConfig } from "../vm/vm-view.ts";
import { configWatch, namesIn } from "./config-watch.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import type { SharedCaches } from "./shared-caches.ts";
import { sharedWatch, syncedFirst } from "./shared-watch.ts";

/** VMs, their DataVolumes and their VMIs. */
export const vmPart: ControllerPartMaker = { name: "vm", make };

function make(context: PartContext): ControllerPart {
  const { caches, client, random } = context;
  const wall = () => context.wall();
  const config = () => context.config().cluster;
  const statuses = new OwnStatuses();
  return {
    concurrency: 10,
    watches: watches(context),
    reconcile: async (vm, request) => {
      const { behindFor, ...runner } = context.runner(vm);
      if (behindFor > 0) return { requeueAfter: behindFor };
      const { syncedAnnotations, syncedLabels } = context.config();
      const options = {
        random: () => random.number(),
        ...(syncedAnnotations && { syncedAnnotations }),
        ...(syncedLabels && { syncedLabels }),
      };
      const run = { caches, client, config, options, statuses, wall };
      const reconcile = vmReconciler({ ...runner, ...run });
      return await reconcile(vm, request);
    },
  };
}

/** What plans for VMs read besides the configuration of new VMIs. */
function configOfVms(kubevirt: KubeObject | undefined): unknown {
  const configuration = at(kubevirt, "spec", "configuration");
  return [
    at(configuration, "changedBlockTrackingLabelSelectors"),
    at(configuration, "developerConfiguration"),
    at(configuration, "instancetype"),
    at(configuration, "liveUpdateConfiguration"),
    at(configuration, "vmRolloutStrategy"),
  ];
}

/** Whether the labels of a namespace decide about anything: about changed-block tracking. */
function selectsNamespaces({ changedBlockTracking }: VmConfig): boolean {
  return changedBlockTracking?.namespaceLabelSelector !== undefined;
}

function watches({ caches, names, config }: PartContext): ControllerPart["watches"] {
  const { vms, vmis, pods, claims, dataVolumes } = caches;
  const { vmis: vmiKind } = vmResources(names);
  return [
    sharedWatch(vms),
    // A VMI without an owner may be adopted: it has the VM's name in any case.
    sharedWatch(vmis),
    // A Pod that receives a guest is remembered first, so a look when it appears is enough.
    sharedWatch(pods, {
      keys: (pod) => ownerNamed(pod, vmiKind.kind),
      predicate: ({ type }) => type === "added",
    }),
    sharedWatch(claims, {
      keys: (claim) => vmsOfClaim(claim, caches),
      predicate: ({ old, object }) => old?.status?.phase !== object?.status?.phase,
    }),
    ...(dataVolumes
      ? [sharedWatch(dataVolumes, { keys: (volume) => vmsOfClaim(volume, caches) })]
      : []),
    configWatch(caches, { reads: configOfVms, keys: () => namesIn(vms) }),
    sharedWatch(caches.namespaces, {
      keys: ({ metadata }) => namesIn(vms, metadata.name),
      predicate: ({ old, object }) =>
        selectsNamespaces(config().cluster) &&
        old !== undefined &&
        object !== undefined &&
        !isDeepStrictEqual(old.metadata.labels, object.metadata.labels),
      priority: "low",
    }),
    ...syncedFirst([
      caches.revisions,
      caches.instancetypes,
      caches.clusterInstancetypes,
      caches.preferences,
      caches.clusterPreferences,
      caches.dataSources,
    ] as never[]),
  ];
}

function ownerNamed(object: KubeObject, kind: string): readonly ObjectName[] {
  const owner = controllerOf(object);
  const { namespace } = object.metadata;
  return owner?.kind === kind && namespace !== undefined ? [{ namespace, name: owner.name }] : [];
}

/** The VMs that use a claim or DataVolume. */
function vmsOfClaim(
  { metadata: { namespace = "", name = "" } }: KubeObject,
  { vms }: SharedCaches,
): readonly ObjectName[] {
  const found = vms.byIndex("claim", `${namespace}/${name}`);
  const users = found.state === "complete" ? found.objects : found.seen;
  return users.map((vm) => ({ namespace, name: vm.metadata.name ?? "" }));
}
