import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";

/**
 * What exists in the cluster, as far as the rules ask for it. Answers come from a cache: a rule does
 * not wait.
 */
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

/** What a VM takes its size and its devices from. */
export interface AppliedInstancetype {
  readonly instancetype?: VirtualMachineInstancetypeSpec | undefined;
  readonly preference?: VirtualMachinePreferenceSpec | undefined;
}

/** A cluster in which nothing exists yet: for judging an object by itself. */
export const emptyCluster: AdmissionLookup = {
  virtualMachineInstance: () => undefined,
  migrationsOf: () => [],
};
