import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from "../schema/index.ts";
import type { Cause } from "./cause.ts";

/**
 * What exists in the cluster, as far as the rules ask for it. Answers come from a cache: a rule does
 * not wait.
 */
export interface AdmissionLookup {
  /** The VirtualMachineInstance of that name. */
  virtualMachineInstance(namespace: string, name: string): VirtualMachineInstance | undefined;
  /** The migrations whose label `kubevirt.io/vmi-name` names that machine, ended ones included. */
  migrationsOf(namespace: string, vmiName: string): readonly VirtualMachineInstanceMigration[];
  /**
   * Applies the machine's instancetype and preference to its template, in place, and says what
   * conflicts. Default: there are none.
   */
  expand?(draft: VirtualMachine): readonly Cause[];
}

/** A cluster in which nothing exists yet: for judging an object by itself. */
export const emptyCluster: AdmissionLookup = {
  virtualMachineInstance: () => undefined,
  migrationsOf: () => [],
};
