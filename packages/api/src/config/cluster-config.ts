import type { Names } from "../names/index.ts";
import { type Quantity, quantityFrom } from "../quantity/index.ts";
import type {
  EvictionStrategy,
  HypervisorConfiguration,
  InstancetypeReferencePolicy,
  InterfaceBindingPlugin,
  LabelSelector,
  LogVerbosity,
  PullPolicy,
  QuantityInput,
  SMBiosConfiguration,
  SupportContainerType,
} from "../schema/index.ts";
import type { Architecture } from "./default-configuration.ts";
import type {
  EffectiveConfiguration,
  EffectiveMigrationConfiguration,
} from "./effective-configuration.ts";
import { type FeatureGate, isGateOn } from "./feature-gates.ts";

/** What a {@link ClusterConfig} knows in addition to the configuration itself. */
export interface ClusterFacts {
  /** Architecture of the nodes on which the control plane runs. */
  readonly cpuArchitecture: string;
  /** Annotations of the KubeVirt object. */
  readonly annotations: Readonly<Record<string, string>>;
  /** What the platform calls its labels, annotations, directories and so on. */
  readonly names: Names;
}

/** A component with its own log level. */
export type LoggingComponent = Exclude<keyof LogVerbosity, "nodeVerbosity">;

/**
 * The configuration of a cluster, including defaults, with a method for each question. Immutable. Created by
 * `clusterConfig`.
 */
export class ClusterConfig implements ClusterFacts {
  /** The frozen configuration including defaults, for settings without an accessor. */
  readonly configuration: EffectiveConfiguration;
  readonly cpuArchitecture: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly names: Names;
  readonly #gates = new Map<FeatureGate, boolean>();
  readonly #quantities = new Map<QuantityInput, Quantity>();

  constructor(configuration: EffectiveConfiguration, facts: ClusterFacts) {
    this.configuration = configuration;
    this.cpuArchitecture = facts.cpuArchitecture;
    this.annotations = facts.annotations;
    this.names = facts.names;
  }

  /** Whether a feature gate is on. An unknown one, which only a cast can name, is off. */
  gate(name: FeatureGate): boolean {
    let on = this.#gates.get(name);
    if (on === undefined) {
      on = isGateOn(name, this.configuration.developerConfiguration);
      this.#gates.set(name, on);
    }
    return on;
  }

  // Architectures and machine types

  /** Architecture of VMIs that do not set one; empty if nobody has set it. */
  get defaultArchitecture(): string {
    return this.configuration.architectureConfiguration.defaultArchitecture;
  }

  /** Machine type of VMIs that do not set one. Unknown architectures get amd64's. */
  machineType(architecture: string): string {
    return this.configuration.machineType || this.#of(architecture).machineType || "";
  }

  /** Patterns of the machine types that are allowed. Unknown architectures get amd64's. */
  emulatedMachines(architecture: string): readonly string[] {
    const forAll = this.configuration.emulatedMachines;
    return forAll?.length ? forAll : (this.#of(architecture).emulatedMachines ?? []);
  }

  /** Directory of the EFI firmware in launchers. Unknown architectures get amd64's. */
  ovmfPath(architecture: string): string {
    return this.configuration.ovmfPath || this.#of(architecture).ovmfPath || "";
  }

  #of(architecture: string): EffectiveConfiguration["architectureConfiguration"][Architecture] {
    const { amd64, arm64, s390x } = this.configuration.architectureConfiguration;
    if (architecture === "arm64") return arm64;
    return architecture === "s390x" ? s390x : amd64;
  }

  /** The hypervisor; KVM unless the gate `ConfigurableHypervisor` allows another. */
  get hypervisor(): HypervisorConfiguration {
    const configured =
      this.gate("ConfigurableHypervisor") && this.configuration.hypervisors[0]?.name;
    return { name: configured || "kvm" };
  }

  /** Whether guests may run without hardware virtualization. */
  get useEmulation(): boolean {
    return this.#developer.useEmulation ?? false;
  }

  /** What guests read about the manufacturer of the machine. */
  get smbios(): SMBiosConfiguration {
    return this.configuration.smbios;
  }

  /** Whether x86 EFI guests get a VGA display instead of Bochs: an annotation of the KubeVirt object. */
  get vgaDisplayForEfiGuests(): boolean {
    return Object.hasOwn(this.annotations, this.names.annotations.vgaDisplayForEfiGuests);
  }

  // Processor and memory

  /** CPU model of VMIs that do not set one. */
  get cpuModel(): string | undefined {
    return this.configuration.cpuModel || undefined;
  }

  /** CPU request of VMIs that do not set one. */
  get cpuRequest(): Quantity {
    return this.#quantity(this.configuration.cpuRequest);
  }

  /** How many virtual CPUs share one. */
  get cpuAllocationRatio(): number {
    return this.#developer.cpuAllocationRatio;
  }

  /** CPU models that nodes do not offer, if the value is true. */
  get obsoleteCpuModels(): Readonly<Record<string, boolean>> {
    return this.configuration.obsoleteCPUModels ?? {};
  }

  /** Lowest TSC frequency that VMIs may rely on. */
  get minimumClusterTscFrequency(): number | undefined {
    return this.#developer.minimumClusterTSCFrequency;
  }

  /** Namespaces in which VMIs get their own CPU limit. */
  get autoCpuLimitNamespaceLabelSelector(): LabelSelector | undefined {
    return this.configuration.autoCPULimitNamespaceLabelSelector;
  }

  /** Percentage of the requested memory that guests see. */
  get memoryOvercommit(): number {
    return this.#developer.memoryOvercommit;
  }

  /** Factor for the memory that a guest needs beyond its own, as a string. */
  get additionalGuestMemoryOverheadRatio(): string | undefined {
    return this.configuration.additionalGuestMemoryOverheadRatio;
  }

  /** Seconds between balloon statistics; 0 turns them off. */
  get memBalloonStatsPeriod(): number {
    return this.configuration.memBalloonStatsPeriod;
  }

  get freePageReportingDisabled(): boolean {
    return this.configuration.virtualMachineOptions?.disableFreePageReporting !== undefined;
  }

  get serialConsoleLogDisabled(): boolean {
    return this.configuration.virtualMachineOptions?.disableSerialConsoleLog !== undefined;
  }

  // Live update

  /** Whether changes reach running guests; otherwise they wait for a restart. */
  get liveUpdate(): boolean {
    return this.configuration.vmRolloutStrategy === "LiveUpdate";
  }

  /** Most sockets that a VMI can grow to, if the cluster sets a limit. */
  get maxCpuSockets(): number | undefined {
    return this.configuration.liveUpdateConfiguration.maxCpuSockets || undefined;
  }

  /** Most memory that a guest can grow to, if the cluster sets a limit. */
  get maxGuest(): Quantity | undefined {
    const { maxGuest } = this.configuration.liveUpdateConfiguration;
    return maxGuest === undefined ? undefined : this.#quantity(maxGuest);
  }

  /** How many times their size VMIs can grow. */
  get maxHotplugRatio(): number {
    return this.configuration.liveUpdateConfiguration.maxHotplugRatio;
  }

  // Networks

  /** Binding of interfaces that do not set one. */
  get defaultNetworkInterface(): string {
    return this.configuration.network.defaultNetworkInterface;
  }

  get permitBridgeInterfaceOnPodNetwork(): boolean {
    return this.configuration.network.permitBridgeInterfaceOnPodNetwork;
  }

  /** Bindings in addition to the built-in ones, by name. */
  get networkBindings(): Readonly<Record<string, InterfaceBindingPlugin>> {
    return this.configuration.network.binding ?? {};
  }

  // Storage and devices

  /** Storage class of the volumes that hold a VMI's own state. */
  get vmStateStorageClass(): string | undefined {
    return this.configuration.vmStateStorageClass || undefined;
  }

  /** Percentage by which a claim may be smaller than requested. */
  get pvcTolerateLessSpaceUpToPercent(): number {
    return this.#developer.pvcTolerateLessSpaceUpToPercent;
  }

  get minimumReservePvcBytes(): number {
    return this.#developer.minimumReservePVCBytes;
  }

  /** Most memory that the inspection of a disk image may use. */
  get diskVerificationMemoryLimit(): Quantity | undefined {
    const { memoryLimit } = this.#developer.diskVerification;
    return memoryLimit === undefined ? undefined : this.#quantity(memoryLimit);
  }

  /** Devices of nodes that VMIs may use. */
  get permittedHostDevices(): EffectiveConfiguration["permittedHostDevices"] {
    return this.configuration.permittedHostDevices;
  }

  /** VMs whose changed blocks are recorded. */
  get changedBlockTracking(): EffectiveConfiguration["changedBlockTrackingLabelSelectors"] {
    return this.configuration.changedBlockTrackingLabelSelectors;
  }

  /** Whether SCSI persistent reservations are supported: by its own field, otherwise by naming the gate. */
  get persistentReservationEnabled(): boolean {
    const { enabled } = this.configuration.persistentReservationConfiguration ?? {};
    return enabled ?? this.#developer.featureGates?.includes("PersistentReservation") ?? false;
  }

  /** Whether something else manages mediated devices. */
  get mediatedDevicesHandlingDisabled(): boolean {
    const { enabled } = this.configuration.mediatedDevicesConfiguration ?? {};
    return enabled === undefined ? this.gate("DisableMDEVConfiguration") : !enabled;
  }

  /**
   * Types of mediated devices that a node should have: those of every entry whose selector matches the node's
   * labels, or the general list if none does.
   */
  mediatedDeviceTypes(nodeLabels: Readonly<Record<string, string>>): readonly string[] {
    const { nodeMediatedDeviceTypes = [], ...general } =
      this.configuration.mediatedDevicesConfiguration ?? {};
    const matching = nodeMediatedDeviceTypes
      .filter(({ nodeSelector }) =>
        Object.entries(nodeSelector ?? {}).every(([name, value]) => nodeLabels[name] === value),
      )
      .flatMap(typesOf);
    return matching.length > 0 ? [...new Set(matching)] : typesOf(general);
  }

  // Confidential guests

  /** Whether TDX guests must be able to get quotes. */
  get tdxAttestationEnforced(): boolean {
    return this.configuration.confidentialCompute?.tdx?.attestation?.enforced ?? false;
  }

  /** Socket of the service that signs TDX quotes. */
  get qgsSocketPath(): string {
    const { qgsSocketPath } = this.configuration.confidentialCompute?.tdx?.attestation ?? {};
    return qgsSocketPath ?? "/var/run/tdx-qgs/qgs.socket";
  }

  // Launchers

  get imagePullPolicy(): PullPolicy {
    return this.configuration.imagePullPolicy;
  }

  /** SELinux type of launchers, if the cluster sets one. */
  get selinuxLauncherType(): string | undefined {
    return this.configuration.selinuxLauncherType || undefined;
  }

  get defaultRuntimeClass(): string | undefined {
    return this.configuration.defaultRuntimeClass || undefined;
  }

  /** Labels that nodes must have to run VMIs. */
  get nodeSelectors(): Readonly<Record<string, string>> {
    return this.#developer.nodeSelectors ?? {};
  }

  /** The seccomp profile of launchers. */
  get seccomp(): EffectiveConfiguration["seccompConfiguration"] {
    return this.configuration.seccompConfiguration;
  }

  /** A helper container's request for a resource; undefined if it is missing or zero. */
  supportContainerRequest(type: SupportContainerType, resource: string): Quantity | undefined {
    return this.#supportContainer("requests", type, resource);
  }

  /** A helper container's limit for a resource; undefined if it is missing or zero. */
  supportContainerLimit(type: SupportContainerType, resource: string): Quantity | undefined {
    return this.#supportContainer("limits", type, resource);
  }

  #supportContainer(
    kind: "requests" | "limits",
    type: SupportContainerType,
    resource: string,
  ): Quantity | undefined {
    for (const entry of this.configuration.supportContainerResources ?? []) {
      const value = entry.type === type ? entry.resources?.[kind]?.[resource] : undefined;
      const quantity = value === undefined ? undefined : this.#quantity(value);
      if (quantity && !quantity.isZero()) return quantity;
    }
    return undefined;
  }

  /** Patterns of guest agent versions that are known to work. */
  get supportedGuestAgentVersions(): readonly string[] {
    return this.configuration.supportedGuestAgentVersions;
  }

  /** Log level of a component; that of the node, if set, takes precedence. */
  verbosity(component: LoggingComponent, nodeName = ""): number {
    const { nodeVerbosity = {}, ...levels } = this.#developer.logVerbosity;
    const isKnown = nodeName !== "" && Object.hasOwn(nodeVerbosity, nodeName);
    const ofNode = isKnown ? nodeVerbosity[nodeName] : undefined;
    return ofNode || (levels[component] ?? 0);
  }

  // Migration, and the rest of the cluster

  /** The cluster's options for live migrations. */
  get migrations(): EffectiveMigrationConfiguration {
    return this.configuration.migrations;
  }

  /** What happens by default to VMIs when their node is drained. */
  get evictionStrategy(): EvictionStrategy {
    return this.configuration.evictionStrategy;
  }

  /** Nodes on which the kernel merges equal memory pages. */
  get ksm(): EffectiveConfiguration["ksmConfiguration"] {
    return this.configuration.ksmConfiguration;
  }

  /** Whether VMs keep the reference to an instancetype or get its values. */
  get instancetypeReferencePolicy(): InstancetypeReferencePolicy {
    return this.configuration.instancetype?.referencePolicy ?? "reference";
  }

  /** Whether the common instancetypes are installed. */
  get commonInstancetypesEnabled(): boolean {
    return this.configuration.commonInstancetypesDeployment?.enabled ?? true;
  }

  /** Whether VM templates are installed. */
  get templatesEnabled(): boolean {
    return this.gate("Template") && (this.configuration.virtTemplateDeployment?.enabled ?? true);
  }

  get clusterProfiler(): boolean {
    return this.#developer.clusterProfiler ?? false;
  }

  get #developer(): EffectiveConfiguration["developerConfiguration"] {
    return this.configuration.developerConfiguration;
  }

  #quantity(value: QuantityInput): Quantity {
    let quantity = this.#quantities.get(value);
    if (quantity === undefined) {
      quantity = quantityFrom(value);
      this.#quantities.set(value, quantity);
    }
    return quantity;
  }
}

/** The field was once misspelt; the old spelling counts if the new one is empty. */
function typesOf(types: {
  readonly mediatedDeviceTypes?: readonly string[];
  readonly mediatedDevicesTypes?: readonly string[];
}): readonly string[] {
  return types.mediatedDeviceTypes?.length
    ? types.mediatedDeviceTypes
    : (types.mediatedDevicesTypes ?? []);
}
