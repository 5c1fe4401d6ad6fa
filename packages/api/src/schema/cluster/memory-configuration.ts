import { type LabelSelector, LabelSelectorSchema } from "../core/label-selector.ts";
import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { object, type Schema, uint32 } from "../schema.ts";

/** Nodes on which the kernel merges equal memory pages. */
export interface KSMConfiguration {
  nodeLabelSelector?: LabelSelector;
}

export const KSMConfigurationSchema: Schema<KSMConfiguration> = object<KSMConfiguration>({
  nodeLabelSelector: LabelSelectorSchema,
});

/** How far running VMIs can be extended. */
export interface LiveUpdateConfiguration {
  /** Takes the place of the ratio. */
  maxCpuSockets?: number;
  /** Takes the place of the ratio. */
  maxGuest?: QuantityInput;
  /** `maxSockets` and `maxGuest` as a multiple of what a VMI starts with; 4 if absent. */
  maxHotplugRatio?: number;
}

export const LiveUpdateConfigurationSchema: Schema<LiveUpdateConfiguration> =
  object<LiveUpdateConfiguration>({
    maxCpuSockets: uint32,
    maxGuest: QuantityInputSchema,
    maxHotplugRatio: uint32,
  });
