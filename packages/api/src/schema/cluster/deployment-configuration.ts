import { type LabelSelector, LabelSelectorSchema } from "../core/label-selector.ts";
import {
  boolean,
  type Empty,
  type OpenEnum,
  object,
  openEnum,
  type Schema,
  string,
  withRules,
} from "../schema.ts";

/** Whether the common instancetypes are installed. */
export interface CommonInstancetypesDeployment {
  enabled?: boolean;
}

export const CommonInstancetypesDeploymentSchema: Schema<CommonInstancetypesDeployment> =
  object<CommonInstancetypesDeployment>({
    enabled: withRules(boolean, { nullable: true }),
  });

/** Whether VMs keep the reference or get the values. */
export type InstancetypeReferencePolicy = OpenEnum<typeof InstancetypeReferencePolicyValues>;
export const InstancetypeReferencePolicyValues = ["reference", "expand", "expandAll"] as const;
export const InstancetypeReferencePolicySchema: Schema<InstancetypeReferencePolicy> = openEnum(
  InstancetypeReferencePolicyValues,
);

/** How VMs refer to instancetypes. */
export interface InstancetypeConfiguration {
  referencePolicy?: InstancetypeReferencePolicy;
}

export const InstancetypeConfigurationSchema: Schema<InstancetypeConfiguration> =
  object<InstancetypeConfiguration>({
    referencePolicy: withRules(InstancetypeReferencePolicySchema, { closed: true, nullable: true }),
  });

/** Whether VM templates are installed. */
export interface VirtTemplateDeployment {
  enabled?: boolean;
}

export const VirtTemplateDeploymentSchema: Schema<VirtTemplateDeployment> =
  object<VirtTemplateDeployment>({
    enabled: withRules(boolean, { nullable: true }),
  });

/** The supported hypervisors. */
export type HypervisorName = OpenEnum<typeof HypervisorNameValues>;
export const HypervisorNameValues = ["kvm", "hyperv-direct"] as const;
export const HypervisorNameSchema: Schema<HypervisorName> = openEnum(HypervisorNameValues);

/** The hypervisor that runs the guests. */
export interface HypervisorConfiguration {
  name?: HypervisorName;
}

export const HypervisorConfigurationSchema: Schema<HypervisorConfiguration> =
  object<HypervisorConfiguration>({
    name: withRules(HypervisorNameSchema, { closed: true }),
  });

/** Whether SCSI persistent reservations are supported. */
export interface PersistentReservationConfiguration {
  enabled?: boolean;
}

export const PersistentReservationConfigurationSchema: Schema<PersistentReservationConfiguration> =
  object<PersistentReservationConfiguration>({
    enabled: withRules(boolean, { nullable: true }),
  });

/** VMs whose changed blocks are recorded. */
export interface ChangedBlockTrackingSelectors {
  namespaceLabelSelector?: LabelSelector;
  virtualMachineLabelSelector?: LabelSelector;
}

export const ChangedBlockTrackingSelectorsSchema: Schema<ChangedBlockTrackingSelectors> =
  object<ChangedBlockTrackingSelectors>({
    namespaceLabelSelector: LabelSelectorSchema,
    virtualMachineLabelSelector: LabelSelectorSchema,
  });

/** What guests read in their SMBIOS about the manufacturer of the machine. */
export interface SMBiosConfiguration {
  family?: string;
  manufacturer?: string;
  product?: string;
  sku?: string;
  version?: string;
}

export const SMBiosConfigurationSchema: Schema<SMBiosConfiguration> = object<SMBiosConfiguration>({
  family: string,
  manufacturer: string,
  product: string,
  sku: string,
  version: string,
});

/** Guests do not return free memory. */
export type DisableFreePageReporting = Empty;

export const DisableFreePageReportingSchema: Schema<DisableFreePageReporting> =
  object<DisableFreePageReporting>({});

/** Serial consoles are not logged. */
export type DisableSerialConsoleLog = Empty;

export const DisableSerialConsoleLogSchema: Schema<DisableSerialConsoleLog> =
  object<DisableSerialConsoleLog>({});

/** Settings for all VMs. */
export interface VirtualMachineOptions {
  disableFreePageReporting?: DisableFreePageReporting;
  disableSerialConsoleLog?: DisableSerialConsoleLog;
}

export const VirtualMachineOptionsSchema: Schema<VirtualMachineOptions> =
  object<VirtualMachineOptions>({
    disableFreePageReporting: DisableFreePageReportingSchema,
    disableSerialConsoleLog: DisableSerialConsoleLogSchema,
  });
