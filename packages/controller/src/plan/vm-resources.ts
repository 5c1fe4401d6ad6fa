import type { Names } from "@virtkit/api/names";
import { defineResource, type Resource } from "@virtkit/kube";
import { cdiNames } from "../vmi/cdi-names.ts";
import { vmiResource } from "./resources.ts";

/** The resources of a platform that the plans for VMs and their VMIs write. */
export interface VmResources {
  readonly vms: Resource;
  readonly vmis: Resource;
  readonly migrations: Resource;
  readonly kubevirts: Resource;
  readonly replicaSets: Resource;
  readonly pools: Resource;
}

/** {@link VmResources} by the platform's names. */
export function vmResources(names: Names): VmResources {
  const { core, pool } = names.groups;
  return {
    vms: defineResource({
      group: core,
      version: "v1",
      plural: "virtualmachines",
      kind: "VirtualMachine",
    }),
    vmis: vmiResource(names),
    migrations: defineResource({
      group: core,
      version: "v1",
      plural: "virtualmachineinstancemigrations",
      kind: "VirtualMachineInstanceMigration",
    }),
    kubevirts: defineResource({
      group: core,
      version: "v1",
      plural: "kubevirts",
      kind: "KubeVirt",
    }),
    replicaSets: defineResource({
      group: core,
      version: "v1",
      plural: "virtualmachineinstancereplicasets",
      kind: "VirtualMachineInstanceReplicaSet",
    }),
    pools: defineResource({
      group: pool,
      version: "v1beta1",
      plural: "virtualmachinepools",
      kind: "VirtualMachinePool",
    }),
  };
}

/** Stored copies of the specs of VMs and instance types. */
export const revisionResource: Resource = defineResource({
  group: "apps",
  version: "v1",
  plural: "controllerrevisions",
  kind: "ControllerRevision",
});

/** CDI's DataVolumes. */
export const dataVolumeResource: Resource = defineResource({
  group: cdiNames.group,
  version: "v1beta1",
  plural: "datavolumes",
  kind: "DataVolume",
});
