import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { object, required, type Schema, string, uint32 } from "../schema.ts";

/** CPUs that are required. */
export interface CPUPreferenceRequirement {
  guest: number;
}

export const CPUPreferenceRequirementSchema: Schema<CPUPreferenceRequirement> =
  object<CPUPreferenceRequirement>({
    guest: required(uint32),
  });

/** Memory that is required. */
export interface MemoryPreferenceRequirement {
  guest: QuantityInput;
}

export const MemoryPreferenceRequirementSchema: Schema<MemoryPreferenceRequirement> =
  object<MemoryPreferenceRequirement>({
    guest: required(QuantityInputSchema),
  });

/** The minimum that a VM must have. */
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
