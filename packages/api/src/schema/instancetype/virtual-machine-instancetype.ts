import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import { type GPU, GPUSchema } from "../devices/gpu.ts";
import { type HostDevice, HostDeviceSchema } from "../devices/host-device.ts";
import { type NUMA, NUMASchema, type Realtime, RealtimeSchema } from "../domain/cpu.ts";
import { type IOThreadsPolicy, IOThreadsPolicySchema } from "../domain/domain.ts";
import { type DiskIOThreads, DiskIOThreadsSchema } from "../domain/io-threads.ts";
import { type LaunchSecurity, LaunchSecuritySchema } from "../domain/launch-security.ts";
import { type Hugepages, HugepagesSchema } from "../domain/memory.ts";
import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  array,
  boolean,
  int,
  map,
  object,
  required,
  type Schema,
  string,
  uint32,
  withRules,
} from "../schema.ts";

/** The CPUs. */
export interface CPUInstancetype {
  dedicatedCPUPlacement?: boolean;
  /** Total number of virtual CPUs; the preference decides about their topology. */
  guest: number;
  isolateEmulatorThread?: boolean;
  maxSockets?: number;
  model?: string;
  numa?: NUMA;
  realtime?: Realtime;
}

export const CPUInstancetypeSchema: Schema<CPUInstancetype> = object<CPUInstancetype>({
  dedicatedCPUPlacement: boolean,
  guest: required(uint32),
  isolateEmulatorThread: boolean,
  maxSockets: uint32,
  model: string,
  numa: NUMASchema,
  realtime: RealtimeSchema,
});

/** The memory. */
export interface MemoryInstancetype {
  guest: QuantityInput;
  hugepages?: Hugepages;
  maxGuest?: QuantityInput;
  /** Percentage by which the Pod requests less memory than the guest sees. */
  overcommitPercent?: number;
}

export const MemoryInstancetypeSchema: Schema<MemoryInstancetype> = object<MemoryInstancetype>({
  guest: required(QuantityInputSchema),
  hugepages: HugepagesSchema,
  maxGuest: QuantityInputSchema,
  overcommitPercent: withRules(int, { minimum: 0, maximum: 100 }),
});

/** What VMs of this type get; they must not set it themselves. */
export interface VirtualMachineInstancetypeSpec {
  annotations?: Record<string, string>;
  cpu: CPUInstancetype;
  gpus?: GPU[];
  hostDevices?: HostDevice[];
  ioThreads?: DiskIOThreads;
  ioThreadsPolicy?: IOThreadsPolicy;
  launchSecurity?: LaunchSecurity;
  memory: MemoryInstancetype;
  nodeSelector?: Record<string, string>;
  schedulerName?: string;
}

export const VirtualMachineInstancetypeSpecSchema: Schema<VirtualMachineInstancetypeSpec> =
  object<VirtualMachineInstancetypeSpec>({
    annotations: map(string),
    cpu: required(CPUInstancetypeSchema),
    gpus: array(GPUSchema, { listType: "atomic" }),
    hostDevices: array(HostDeviceSchema, { listType: "atomic" }),
    ioThreads: DiskIOThreadsSchema,
    ioThreadsPolicy: IOThreadsPolicySchema,
    launchSecurity: LaunchSecuritySchema,
    memory: required(MemoryInstancetypeSchema),
    nodeSelector: map(string),
    schedulerName: string,
  });

/** A size and kind of VM that many VMs share, in one namespace. */
export interface VirtualMachineInstancetype {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachineInstancetypeSpec;
}

export const VirtualMachineInstancetypeSchema: Schema<VirtualMachineInstancetype> =
  object<VirtualMachineInstancetype>({
    apiVersion: string,
    kind: string,
    metadata: ObjectMetaSchema,
    spec: required(VirtualMachineInstancetypeSpecSchema),
  });

/** A size and kind of VM that many VMs share, in the whole cluster. */
export interface VirtualMachineClusterInstancetype {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachineInstancetypeSpec;
}

export const VirtualMachineClusterInstancetypeSchema: Schema<VirtualMachineClusterInstancetype> =
  object<VirtualMachineClusterInstancetype>({
    apiVersion: string,
    kind: string,
    metadata: ObjectMetaSchema,
    spec: required(VirtualMachineInstancetypeSpecSchema),
  });
