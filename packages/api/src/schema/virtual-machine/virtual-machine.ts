import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import {
  type VirtualMachineInstanceTemplateSpec,
  VirtualMachineInstanceTemplateSpecSchema,
} from "../instance/virtual-machine-instance.ts";
import {
  array,
  boolean,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import {
  type DataVolumeTemplateSpec,
  DataVolumeTemplateSpecSchema,
} from "./data-volume-template.ts";
import {
  type InstancetypeMatcher,
  InstancetypeMatcherSchema,
  type PreferenceMatcher,
  PreferenceMatcherSchema,
} from "./instancetype-matcher.ts";
import { type VirtualMachineRunStrategy, VirtualMachineRunStrategySchema } from "./run-strategy.ts";
import { type VirtualMachineStatus, VirtualMachineStatusSchema } from "./virtual-machine-status.ts";

/** What a change of a VM's volumes means. */
export type UpdateVolumesStrategy = OpenEnum<typeof UpdateVolumesStrategyValues>;
export const UpdateVolumesStrategyValues = ["Migration", "Replacement"] as const;
export const UpdateVolumesStrategySchema: Schema<UpdateVolumesStrategy> = openEnum(
  UpdateVolumesStrategyValues,
);

/** What the VM is, and whether it should run. */
export interface VirtualMachineSpec {
  /** Created with the VM and deleted with it. */
  dataVolumeTemplates?: DataVolumeTemplateSpec[];
  instancetype?: InstancetypeMatcher;
  preference?: PreferenceMatcher;
  runStrategy?: VirtualMachineRunStrategy;
  /** The old form of `runStrategy`: `true` is `Always`, `false` is `Halted`. One of the two is set. */
  running?: boolean;
  template: VirtualMachineInstanceTemplateSpec;
  updateVolumesStrategy?: UpdateVolumesStrategy;
}

export const VirtualMachineSpecSchema: Schema<VirtualMachineSpec> = object<VirtualMachineSpec>({
  dataVolumeTemplates: array(DataVolumeTemplateSpecSchema),
  instancetype: InstancetypeMatcherSchema,
  preference: PreferenceMatcherSchema,
  runStrategy: VirtualMachineRunStrategySchema,
  running: boolean,
  template: required(VirtualMachineInstanceTemplateSpecSchema),
  updateVolumesStrategy: UpdateVolumesStrategySchema,
});

/** A VM: it can be stopped and started again. */
export interface VirtualMachine {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachineSpec;
  status?: VirtualMachineStatus;
}

export const VirtualMachineSchema: Schema<VirtualMachine> = object<VirtualMachine>({
  apiVersion: string,
  kind: string,
  metadata: ObjectMetaSchema,
  spec: required(VirtualMachineSpecSchema),
  status: VirtualMachineStatusSchema,
});
