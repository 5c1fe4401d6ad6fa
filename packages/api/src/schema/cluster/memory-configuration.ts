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

/** How far running VMIs can grow. */
export interface LiveUpdateConfiguration {
  /** Replaces the ratio. */
  maxCpuSockets?: number;
  /** Replaces the ratio. */
  maxGuest?: QuantityInput;
  /** `maxSockets` and `maxGuest` as a multiple of a VMI's initial values; 4 if absent. */
  maxHotplugRatio?: number;
}

export const LiveUpdateConfigurationSchema: Schema<LiveUpdateConfiguration> =
  object<LiveUpdateConfiguration>({
    maxCpuSockets: uint32,
    maxGuest: QuantityInputSchema,
    maxHotplugRatio: uint32,
  });
