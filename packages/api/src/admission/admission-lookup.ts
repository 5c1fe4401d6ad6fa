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
  /** The migrations whose label `kubevirt.io/vmi-name` names that VMI, ended ones included. */
  migrationsOf(namespace: string, vmiName: string): readonly VirtualMachineInstanceMigration[];
  /**
   * The instancetype and the preference that the VM refers to, as far as they exist: one that
   * does not is looked for again when the VM is run. Default: there are none.
   */
  instancetypeOf?(vm: VirtualMachine): AppliedInstancetype;
}

/** The instance type and the preference of a VM. */
export interface AppliedInstancetype {
  readonly instancetype?: VirtualMachineInstancetypeSpec | undefined;
  readonly preference?: VirtualMachinePreferenceSpec | undefined;
}

/** A cluster in which nothing exists, for checking an object by itself. */
export const emptyCluster: AdmissionLookup = {
  virtualMachineInstance: () => undefined,
  migrationsOf: () => [],
};
