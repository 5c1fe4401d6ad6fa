import { type Devices, DevicesSchema } from "../devices/devices.ts";
import { type OpenEnum, object, openEnum, required, type Schema, withRules } from "../schema.ts";
import { type Chassis, ChassisSchema } from "./chassis.ts";
import { type Clock, ClockSchema } from "./clock.ts";
import { type CPU, CPUSchema } from "./cpu.ts";
import { type Features, FeaturesSchema } from "./features.ts";
import { type Firmware, FirmwareSchema } from "./firmware.ts";
import { type DiskIOThreads, DiskIOThreadsSchema } from "./io-threads.ts";
import { type LaunchSecurity, LaunchSecuritySchema } from "./launch-security.ts";
import { type Machine, MachineSchema } from "./machine.ts";
import { type Memory, MemorySchema } from "./memory.ts";
import { type ResourceRequirements, ResourceRequirementsSchema } from "./resource-requirements.ts";

/** How disks are distributed over I/O threads. */
export type IOThreadsPolicy = OpenEnum<typeof IOThreadsPolicyValues>;
export const IOThreadsPolicyValues = ["shared", "auto", "supplementalPool"] as const;
export const IOThreadsPolicySchema: Schema<IOThreadsPolicy> = openEnum(IOThreadsPolicyValues);

/** Whether the VMI survives a reboot of the guest. */
export type RebootPolicy = OpenEnum<typeof RebootPolicyValues>;
export const RebootPolicyValues = ["Reboot", "Terminate"] as const;
export const RebootPolicySchema: Schema<RebootPolicy> = openEnum(RebootPolicyValues);

/** The virtual hardware: CPUs, memory, firmware, devices. */
export interface DomainSpec {
  chassis?: Chassis;
  clock?: Clock;
  cpu?: CPU;
  devices: Devices;
  features?: Features;
  firmware?: Firmware;
  ioThreads?: DiskIOThreads;
  /** If absent, no disk has its own threads. */
  ioThreadsPolicy?: IOThreadsPolicy;
  launchSecurity?: LaunchSecurity;
  machine?: Machine;
  memory?: Memory;
  rebootPolicy?: RebootPolicy;
  /** Resources of the Pod; requests also size the guest if `memory` and `cpu` do not. */
  resources?: ResourceRequirements;
}

export const DomainSpecSchema: Schema<DomainSpec> = object<DomainSpec>({
  chassis: ChassisSchema,
  clock: withRules(ClockSchema, { preserveUnknownFields: true }),
  cpu: CPUSchema,
  devices: required(DevicesSchema),
  features: FeaturesSchema,
  firmware: FirmwareSchema,
  ioThreads: DiskIOThreadsSchema,
  ioThreadsPolicy: IOThreadsPolicySchema,
  launchSecurity: LaunchSecuritySchema,
  machine: MachineSchema,
  memory: MemorySchema,
  rebootPolicy: withRules(RebootPolicySchema, { closed: true }),
  resources: ResourceRequirementsSchema,
});
