import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { object, required, type Schema, string, uint32 } from "../schema.ts";

/** Processors that are needed. */
export interface CPUPreferenceRequirement {
  guest: number;
}

export const CPUPreferenceRequirementSchema: Schema<CPUPreferenceRequirement> =
  object<CPUPreferenceRequirement>({
    guest: required(uint32),
  });

/** Memory that is needed. */
export interface MemoryPreferenceRequirement {
  guest: QuantityInput;
}

export const MemoryPreferenceRequirementSchema: Schema<MemoryPreferenceRequirement> =
  object<MemoryPreferenceRequirement>({
    guest: required(QuantityInputSchema),
  });

/** What a VM must have at least. */
export interface PreferenceRequirements {
  architecture?: string;
  cpu?: CPUPreferenceRequirement;
  memory?: MemoryPreferenceRequirement;
}

export const PreferenceRequirementsSchema: Schema<PreferenceRequirements> =
  object<PreferenceRequirements>({
    architecture: string,
    cpu: CPUPreferenceRequirementSchema,
    memory: MemoryPreferenceRequirementSchema,
  });
