import { type LabelSelector, LabelSelectorSchema } from "../core/label-selector.ts";
import { type PullPolicy, PullPolicySchema } from "../core/pull-policy.ts";
import {
  type EvictionStrategy,
  EvictionStrategySchema,
} from "../instance/virtual-machine-instance.ts";
import {
  type MigrationConfiguration,
  MigrationConfigurationSchema,
} from "../migration/migration-configuration.ts";
import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import {
  array,
  boolean,
  int,
  map,
  type OpenEnum,
  object,
  openEnum,
  type Schema,
  string,
  uint32,
  withRules,
} from "../schema.ts";
import { type ArchConfiguration, ArchConfigurationSchema } from "./architecture-configuration.ts";
import {
  type SupportContainerResources,
  SupportContainerResourcesSchema,
} from "./component-resources.ts";
import {
  type ChangedBlockTrackingSelectors,
  ChangedBlockTrackingSelectorsSchema,
  type CommonInstancetypesDeployment,
  CommonInstancetypesDeploymentSchema,
  type HypervisorConfiguration,
  HypervisorConfigurationSchema,
  type InstancetypeConfiguration,
  InstancetypeConfigurationSchema,
  type PersistentReservationConfiguration,
  PersistentReservationConfigurationSchema,
  type SMBiosConfiguration,
  SMBiosConfigurationSchema,
  type VirtTemplateDeployment,
  VirtTemplateDeploymentSchema,
  type VirtualMachineOptions,
  VirtualMachineOptionsSchema,
} from "./deployment-configuration.ts";
import {
  type DeveloperConfiguration,
  DeveloperConfigurationSchema,
} from "./developer-configuration.ts";
import {
  type MediatedDevicesConfiguration,
  MediatedDevicesConfigurationSchema,
} from "./mediated-devices-configuration.ts";
import {
  type KSMConfiguration,
  KSMConfigurationSchema,
  type LiveUpdateConfiguration,
  LiveUpdateConfigurationSchema,
} from "./memory-configuration.ts";
import { type NetworkConfiguration, NetworkConfigurationSchema } from "./network-configuration.ts";
import { type PermittedHostDevices, PermittedHostDevicesSchema } from "./permitted-host-devices.ts";
import {
  type ReloadableComponentConfiguration,
  ReloadableComponentConfigurationSchema,
} from "./rate-limit.ts";
import {
  type ConfidentialComputeConfiguration,
  ConfidentialComputeConfigurationSchema,
  type SeccompConfiguration,
  SeccompConfigurationSchema,
  type TLSConfiguration,
  TLSConfigurationSchema,
} from "./security-configuration.ts";

/** Whether the roles extend the cluster's own roles. */
export type RoleAggregationStrategy = OpenEnum<typeof RoleAggregationStrategyValues>;
export const RoleAggregationStrategyValues = ["AggregateToDefault", "Manual"] as const;
export const RoleAggregationStrategySchema: Schema<RoleAggregationStrategy> = openEnum(
  RoleAggregationStrategyValues,
);

/** Whether changes of a VMI's spec reach the running guest. */
export type VMRolloutStrategy = OpenEnum<typeof VMRolloutStrategyValues>;
export const VMRolloutStrategyValues = ["Stage", "LiveUpdate"] as const;
export const VMRolloutStrategySchema: Schema<VMRolloutStrategy> = openEnum(VMRolloutStrategyValues);

/** The configuration of the cluster; missing values have a default per architecture. */
export interface KubeVirtConfiguration {
  /** Factor for the computed memory overhead; a number as a string. */
  additionalGuestMemoryOverheadRatio?: string;
  apiConfiguration?: ReloadableComponentConfiguration;
  architectureConfiguration?: ArchConfiguration;
  /** In matching namespaces, VMIs without a CPU limit get one. */
  autoCPULimitNamespaceLabelSelector?: LabelSelector;
  changedBlockTrackingLabelSelectors?: ChangedBlockTrackingSelectors;
  commonInstancetypesDeployment?: CommonInstancetypesDeployment;
  confidentialCompute?: ConfidentialComputeConfiguration;
  controllerConfiguration?: ReloadableComponentConfiguration;
  /** For VMIs that do not set one. */
  cpuModel?: string;
  /** Per virtual CPU, for VMIs that do not set one. */
  cpuRequest?: QuantityInput;
  /** Runtime class of launcher Pods. */
  defaultRuntimeClass?: string;
  developerConfiguration?: DeveloperConfiguration;
  /** Patterns of allowed machine types. Deprecated: use the setting per architecture. */
  emulatedMachines?: string[];
  evictionStrategy?: EvictionStrategy;
  handlerConfiguration?: ReloadableComponentConfiguration;
  hypervisors?: HypervisorConfiguration[];
  imagePullPolicy?: PullPolicy;
  instancetype?: InstancetypeConfiguration;
  ksmConfiguration?: KSMConfiguration;
  liveUpdateConfiguration?: LiveUpdateConfiguration;
  /** Deprecated: use the setting per architecture. */
  machineType?: string;
  mediatedDevicesConfiguration?: MediatedDevicesConfiguration;
  /** Seconds between readings of the guest's memory statistics; 10 if absent, 0 turns them off. */
  memBalloonStatsPeriod?: number;
  migrations?: MigrationConfiguration;
  /** Deprecated and ignored. */
  minCPUModel?: string;
  network?: NetworkConfiguration;
  /** CPU models that do not become node labels. */
  obsoleteCPUModels?: Record<string, boolean>;
  /** The directory of the EFI images. Deprecated: use the setting per architecture. */
  ovmfPath?: string;
  permittedHostDevices?: PermittedHostDevices;
  persistentReservationConfiguration?: PersistentReservationConfiguration;
  roleAggregationStrategy?: RoleAggregationStrategy;
  seccompConfiguration?: SeccompConfiguration;
  /** SELinux type of launchers. */
  selinuxLauncherType?: string;
  smbios?: SMBiosConfiguration;
  supportContainerResources?: SupportContainerResources[];
  /** Deprecated. Patterns of guest agent versions that count as supported. */
  supportedGuestAgentVersions?: string[];
  tlsConfiguration?: TLSConfiguration;
  virtTemplateDeployment?: VirtTemplateDeployment;
  /** How many guests a node has room for; 1000 if absent. */
  virtualMachineInstancesPerNode?: number;
  virtualMachineOptions?: VirtualMachineOptions;
  vmRolloutStrategy?: VMRolloutStrategy;
  /** Storage class for TPM and EFI state. */
  vmStateStorageClass?: string;
  webhookConfiguration?: ReloadableComponentConfiguration;
}

export const KubeVirtConfigurationSchema: Schema<KubeVirtConfiguration> =
  object<KubeVirtConfiguration>({
    additionalGuestMemoryOverheadRatio: string,
    apiConfiguration: ReloadableComponentConfigurationSchema,
    architectureConfiguration: ArchConfigurationSchema,
    autoCPULimitNamespaceLabelSelector: LabelSelectorSchema,
    changedBlockTrackingLabelSelectors: withRules(ChangedBlockTrackingSelectorsSchema, {
      nullable: true,
    }),
    commonInstancetypesDeployment: withRules(CommonInstancetypesDeploymentSchema, {
      nullable: true,
    }),
    confidentialCompute: withRules(ConfidentialComputeConfigurationSchema, { nullable: true }),
    controllerConfiguration: ReloadableComponentConfigurationSchema,
    cpuModel: string,
    cpuRequest: QuantityInputSchema,
    defaultRuntimeClass: string,
    developerConfiguration: DeveloperConfigurationSchema,
    emulatedMachines: array(string),
    evictionStrategy: EvictionStrategySchema,
    handlerConfiguration: ReloadableComponentConfigurationSchema,
    hypervisors: withRules(array(HypervisorConfigurationSchema, { listType: "atomic" }), {
      maxItems: 1,
    }),
    imagePullPolicy: PullPolicySchema,
    instancetype: withRules(InstancetypeConfigurationSchema, { nullable: true }),
    ksmConfiguration: KSMConfigurationSchema,
    liveUpdateConfiguration: LiveUpdateConfigurationSchema,
    machineType: string,
    mediatedDevicesConfiguration: MediatedDevicesConfigurationSchema,
    memBalloonStatsPeriod: uint32,
    migrations: MigrationConfigurationSchema,
    minCPUModel: string,
    network: NetworkConfigurationSchema,
    obsoleteCPUModels: map(boolean),
    ovmfPath: string,
    permittedHostDevices: PermittedHostDevicesSchema,
    persistentReservationConfiguration: withRules(PersistentReservationConfigurationSchema, {
      nullable: true,
    }),
    roleAggregationStrategy: withRules(RoleAggregationStrategySchema, { closed: true }),
    seccompConfiguration: SeccompConfigurationSchema,
    selinuxLauncherType: string,
    smbios: SMBiosConfigurationSchema,
    supportContainerResources: array(SupportContainerResourcesSchema, {
      listType: "map",
      listMapKeys: ["type"],
    }),
    supportedGuestAgentVersions: array(string),
    tlsConfiguration: TLSConfigurationSchema,
    virtTemplateDeployment: withRules(VirtTemplateDeploymentSchema, { nullable: true }),
    virtualMachineInstancesPerNode: int,
    virtualMachineOptions: VirtualMachineOptionsSchema,
    vmRolloutStrategy: withRules(VMRolloutStrategySchema, { closed: true, nullable: true }),
    vmStateStorageClass: string,
    webhookConfiguration: ReloadableComponentConfigurationSchema,
  });
