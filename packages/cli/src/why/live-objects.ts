import { cdiGroup, names as namesOf } from "@virtkit/api/names";
import { at, text } from "@virtkit/api/shape";
import {
  apiVersionOf,
  defineResource,
  isKubeError,
  type KubeClient,
  type KubeObject,
  type Resource,
} from "@virtkit/kube";
import { grantedNodes } from "../cluster/held-guests.ts";

/** What was read about a VM and its VMI, each with its kind, and what this account may not read. */
export interface LiveObjects {
  readonly objects: readonly KubeObject[];
  readonly problems: readonly string[];
}

const { groups, labels } = namesOf();
const version = "v1";
const vms = defineResource({
  group: groups.core,
  version,
  plural: "virtualmachines",
  kind: "VirtualMachine",
});
const vmis = defineResource({
  group: groups.core,
  version,
  plural: "virtualmachineinstances",
  kind: "VirtualMachineInstance",
});
const migrations = defineResource({
  group: groups.core,
  version,
  plural: "virtualmachineinstancemigrations",
  kind: "VirtualMachineInstanceMigration",
});
const pods = defineResource({ version, plural: "pods", kind: "Pod" });
const events = defineResource({ version, plural: "events", kind: "Event" });
const nodes = defineResource({ version, plural: "nodes", kind: "Node", namespaced: false });
const dataVolumes = defineResource({
  group: cdiGroup,
  version: "v1beta1",
  plural: "datavolumes",
  kind: "DataVolume",
});
const revisions = defineResource({
  group: "apps",
  version,
  plural: "controllerrevisions",
  kind: "ControllerRevision",
});

/** More is not read: what keeps a VM from starting is among the newest. */
const mostObjects = 500;

/**
 * Reads the VM and the VMI of a name, and what says more about them: Pods, the node, events, DataVolumes,
 * stored specs. What this account may not read is left out and reported. Throws if the cluster does not answer.
 */
export async function readLiveObjects(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<LiveObjects> {
  const problems: string[] = [];
  const read = async (resource: Resource, get: () => Promise<readonly KubeObject[]>) => {
    try {
      return (await get()).map((object) => named(resource, object));
    } catch (error) {
      if (!isKubeError(error) || error.status === undefined) throw error;
      if (error.status === 404) return [];
      problems.push(`${resource.plural} cannot be read: ${error.message}`);
      return [];
    }
  };
  const one = (
    resource: Resource,
    object: { readonly name: string; readonly namespace?: string },
  ) => read(resource, async () => [await client.get(resource, object)]);
  const list = (resource: Resource, selector: object) =>
    read(
      resource,
      async () =>
        (await client.list(resource, { namespace, limit: mostObjects, ...selector })).items,
    );
  const [vm, vmi] = [await one(vms, { namespace, name }), await one(vmis, { namespace, name })];
  const uid = text(vmi[0]?.metadata.uid);
  const launchers = uid ? await list(pods, { labelSelector: `${labels.createdBy}=${uid}` }) : [];
  const moves = (uid ? await list(migrations, {}) : []).filter(
    (each) => at(each, "spec", "vmiName") === name,
  );
  // A Pod may have been removed by force from a node that still holds the guest.
  const granted = vmi.flatMap(grantedNodes);
  const nodeNames = new Set([
    ...launchers.map((pod) => text(at(pod, "spec", "nodeName"))),
    ...granted,
  ]);
  nodeNames.delete("");
  const others = [...launchers, ...moves].map(({ metadata }) => text(metadata.name));
  const subjects = [...new Set([name, ...others])];
  const around = await Promise.all([
    ...subjects.map((subject) => list(events, { fieldSelector: `involvedObject.name=${subject}` })),
    ...[...nodeNames].map((node) => one(nodes, { name: node })),
    ...(vm.length > 0 ? [list(dataVolumes, {}), list(revisions, {})] : []),
  ]);
  return { objects: [...vm, ...vmi, ...moves, ...launchers, ...around.flat()], problems };
}

/** Objects in a list do not have a kind. */
function named(resource: Resource, object: KubeObject): KubeObject {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
