import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import type { DataSource } from "@virtkit/api/status/vm";
import type { KubeObject } from "@virtkit/kube";
import type { ObjectSource } from "../plan/object-source.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import type { ControllerRevision, TypeObject } from "./vm-view.ts";

/**
 * The caches that a view of a VM is built from. Those of projects that are not installed are left
 * out.
 */
export interface VmCaches {
  readonly vms: ObjectSource<VirtualMachine>;
  readonly vmis: ObjectSource<VirtualMachineInstance>;
  /** See `podIndexes`. */
  readonly pods: ObjectSource<PodObject, "vmi">;
  readonly claims: ObjectSource<object>;
  /** By the UID of their controller. */
  readonly revisions: ObjectSource<ControllerRevision, "controller">;
  readonly instancetypes: ObjectSource<TypeObject>;
  readonly clusterInstancetypes: ObjectSource<TypeObject>;
  readonly preferences: ObjectSource<TypeObject>;
  readonly clusterPreferences: ObjectSource<TypeObject>;
  readonly namespaces: ObjectSource<KubeObject>;
  readonly dataVolumes?: ObjectSource<KubeObject> | undefined;
  readonly dataSources?: ObjectSource<DataSource> | undefined;
}
