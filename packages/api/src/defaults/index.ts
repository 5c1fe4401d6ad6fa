export { defaultSpec, expansionDefaults } from "./default-spec.ts";
export {
  defaultVirtualMachine,
  type VirtualMachineDefaultsOptions,
} from "./default-virtual-machine.ts";
export { defaultVirtualMachineInstance } from "./default-virtual-machine-instance.ts";
export { defaultVirtualMachineInstanceMigration } from "./default-virtual-machine-instance-migration.ts";
export type { DefaultsOptions } from "./defaults-options.ts";
export { defaultsPatch, type JsonPatchOperation } from "./defaults-patch.ts";
export { memoryHotplugProblem } from "./memory-hotplug.ts";
export { wireForm } from "./wire-form.ts";
