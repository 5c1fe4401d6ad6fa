/** The part of the system that writes a condition. */
export type ConditionWriter =
  | "vmi-controller"
  | "vm-controller"
  | "node-agent"
  | "eviction-webhook";

/** What is known about a condition type. */
export interface ConditionType {
  readonly writer: ConditionWriter;
  /** One sentence on what `True` (or `False`, if it is only ever that) means. */
  readonly meaning: string;
  /** The reasons in v1.9.0. A list that ends in free text is not complete. */
  readonly reasons: readonly string[];
}

/** Why a VMI may not be migrated live: the reasons of `LiveMigratable` = `False`. */
export const notMigratableReasons = [
  "DisksNotLiveMigratable",
  "InterfaceNotLiveMigratable",
  "HotplugNotLiveMigratable",
  "CPUModeLiveMigratable",
  "VirtIOFSNotLiveMigratable",
  "HostDeviceNotLiveMigratable",
  "SEVNotLiveMigratable",
  "TDXNotLiveMigratable",
  "SecureExecutionNotLiveMigratable",
  "NoTSCFrequencyNotLiveMigratable",
  "HypervPassthroughNotLiveMigratable",
  "PersistentReservationNotLiveMigratable",
  "DecentralizedNotLiveMigratable",
  "NotMigratable",
] as const;

/** Reasons of `Synchronized` = `False`: why the controller or the node failed. */
export const syncFailureReasons = [
  "FailedCreate",
  "FailedDelete",
  "FailedPvcNotFound",
  "FailedDataVolumeImport",
  "FailedGuaranteeResources",
  "FailedBackendStorageCreate",
  "FailedBackendStorageProbe",
  "BackendStorageNotReady",
  "FailedHotplugSync",
  "PVCNotReady",
  "MissingAttachmentPod",
  "FailedPodPatch",
  "ErrImagePull",
  "ImagePullBackOff",
  "ContainerPathVolumesDisabled",
  "MissingVirtiofsContainers",
] as const;

/** Every condition type of a VMI. */
export const vmiConditionTypes: Readonly<Record<string, ConditionType>> = {
  Ready: {
    writer: "vmi-controller",
    meaning: "the guest runs, and its readiness probe, if it has one, succeeds",
    reasons: ["PodNotExists", "PodTerminating", "GuestNotRunning", "PodConditionMissing"],
  },
  Provisioning: {
    writer: "vmi-controller",
    meaning: "a disk of the VMI is being filled",
    reasons: [],
  },
  PodScheduled: {
    writer: "vmi-controller",
    meaning: "copied from the Pod while it is False: no node accepts it",
    reasons: ["Unschedulable", "SchedulerError"],
  },
  Synchronized: {
    writer: "vmi-controller",
    meaning: "only ever False: the last attempt to apply the spec failed",
    reasons: syncFailureReasons,
  },
  DataVolumesReady: {
    writer: "vmi-controller",
    meaning: "every DataVolume of the VMI has its data",
    reasons: ["AllDVsReady", "NotAllDVsReady"],
  },
  MigrationRequired: {
    writer: "vmi-controller",
    meaning: "a change needs a migration to take effect; False: it may need one",
    reasons: ["AutoMigrationDueToLiveUpdate", "AutoMigrationPending"],
  },
  HotVCPUChange: {
    writer: "vmi-controller",
    meaning: "the number of vCPUs is being changed",
    reasons: [],
  },
  HotMemoryChange: {
    writer: "vmi-controller",
    meaning: "the guest's memory is being changed",
    reasons: [],
  },
  VolumesChange: {
    writer: "vm-controller",
    meaning: "volumes are being replaced by a migration",
    reasons: ["VolumesChangeCancellation"],
  },
  Paused: {
    writer: "node-agent",
    meaning: "the guest's CPUs are paused",
    reasons: ["PausedByUser", "PausedIOError", "PausedByMigrationMonitor"],
  },
  LiveMigratable: {
    writer: "node-agent",
    meaning: "the VMI can be moved to another node while it runs",
    reasons: notMigratableReasons,
  },
  StorageLiveMigratable: {
    writer: "node-agent",
    meaning: "the volumes can be moved while the guest runs",
    reasons: notMigratableReasons,
  },
  AgentConnected: {
    writer: "node-agent",
    meaning: "the guest agent answers",
    reasons: [],
  },
  AgentVersionNotSupported: {
    writer: "node-agent",
    meaning: "the guest agent lacks commands that KubeVirt uses",
    reasons: [],
  },
  AccessCredentialsSynchronized: {
    writer: "node-agent",
    meaning: "keys and passwords have reached the guest",
    reasons: [],
  },
  SoftwareEmulation: {
    writer: "node-agent",
    meaning: "the guest runs without hardware virtualisation",
    reasons: [],
  },
  EvictionRequested: {
    writer: "eviction-webhook",
    meaning: "somebody asked for the Pod to leave its node",
    reasons: ["EvictionRequested"],
  },
  DecentralizedLiveMigrationFailure: {
    writer: "node-agent",
    meaning: "a migration between clusters failed",
    reasons: [],
  },
};

/** Condition types of a VM itself; those of the VMI are mirrored. */
export const vmConditionTypes: Readonly<Record<string, ConditionType>> = {
  Ready: {
    writer: "vm-controller",
    meaning: "as for the VMI; False also while there is no VMI",
    reasons: ["VMINotExists", "VMIConditionMissing"],
  },
  Failure: {
    writer: "vm-controller",
    meaning: "the last attempt to apply the spec failed",
    reasons: ["FailedCreate", "FailedDelete", "FailedUpdateError"],
  },
  RestartRequired: {
    writer: "vm-controller",
    meaning: "the template was changed in a way that needs a restart",
    reasons: [],
  },
  ManualRecoveryRequired: {
    writer: "vm-controller",
    meaning: "the VMI ended while its volumes were being migrated",
    reasons: [],
  },
};
