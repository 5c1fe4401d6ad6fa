import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { type OpenEnum, object, openEnum, type Schema, string, withRules } from "../schema.ts";

/** Backs the guest's memory with hugepages. */
export interface Hugepages {
  /** For example `2Mi` or `1Gi`; the node must have pages of this size. */
  pageSize?: string;
}

export const HugepagesSchema: Schema<Hugepages> = object<Hugepages>({
  pageSize: string,
});

/** Whether the guest's memory must be locked. */
export type MemLockRequirement = OpenEnum<typeof MemLockRequirementValues>;
export const MemLockRequirementValues = ["NotRequired", "Required"] as const;
export const MemLockRequirementSchema: Schema<MemLockRequirement> =
  openEnum(MemLockRequirementValues);

/** Memory that is reserved for the VMI in addition to the guest's. */
export interface ReservedOverhead {
  /** Added to the memory overhead of the hypervisor. */
  addedOverhead?: QuantityInput;
  memLock?: MemLockRequirement;
}

export const ReservedOverheadSchema: Schema<ReservedOverhead> = object<ReservedOverhead>({
  addedOverhead: QuantityInputSchema,
  memLock: withRules(MemLockRequirementSchema, { closed: true }),
});

/** Memory of the guest. */
export interface Memory {
  /** The memory that the guest sees. */
  guest?: QuantityInput;
  hugepages?: Hugepages;
  /** The maximum that can be plugged into the running guest. */
  maxGuest?: QuantityInput;
  reservedOverhead?: ReservedOverhead;
}

export const MemorySchema: Schema<Memory> = object<Memory>({
  guest: QuantityInputSchema,
  hugepages: HugepagesSchema,
  maxGuest: QuantityInputSchema,
  reservedOverhead: ReservedOverheadSchema,
});
