import { type OpenEnum, openEnum, type Schema } from "../schema.ts";

/** Whether and when a VM is started and restarted. */
export type VirtualMachineRunStrategy = OpenEnum<typeof VirtualMachineRunStrategyValues>;
export const VirtualMachineRunStrategyValues = [
  "Always",
  "Halted",
  "Manual",
  "RerunOnFailure",
  "Once",
  "WaitAsReceiver",
] as const;
export const VirtualMachineRunStrategySchema: Schema<VirtualMachineRunStrategy> = openEnum(
  VirtualMachineRunStrategyValues,
);
