import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";

/** The objects of the cluster that the rules need. Answers come from a cache: a rule does not wait. */
export interface AdmissionLookup {
  /** The VirtualMachineInstance of that name. */
  virtualMachineInstance(namespace: string, name: string): VirtualMachineInstance | undefined;
  /** The migrations whose label `kubevirt.io/vmi-name` names that VMI, including ended ones. */
  migrationsOf(namespace: string, vmiName: string): readonly VirtualMachineInstanceMigration[];
  /**
   * The instancetype and the preference that the VM refers to, if they exist: a missing one is looked up again
   * when the VM runs. Default: there are none.
   */
  instancetypeOf?(vm: VirtualMachine): AppliedInstancetype;
}

/** The instance type and the preference of a VM. */
export interface AppliedInstancetype {
  readonly instancetype?: VirtualMachineInstancetypeSpec | undefined;
  readonly preference?: VirtualMachinePreferenceSpec | undefined;
}

/** A cluster in which nothing exists, for checking an object on its own. */
export const emptyCluster: AdmissionLookup = {
  virtualMachineInstance: () => undefined,
  migrationsOf: () => [],
};
