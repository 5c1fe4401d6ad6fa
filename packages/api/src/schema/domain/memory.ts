import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { type OpenEnum, object, openEnum, type Schema, string, withRules } from "../schema.ts";

/** Backs the guest's memory with huge pages. */
export interface Hugepages {
  /** Such as `2Mi` or `1Gi`; the node must have pages of this size. */
  pageSize?: string;
}

export const HugepagesSchema: Schema<Hugepages> = object<Hugepages>({
  pageSize: string,
});

/** Whether the guest's memory must be locked into the node's. */
export type MemLockRequirement = OpenEnum<typeof MemLockRequirementValues>;
export const MemLockRequirementValues = ["NotRequired", "Required"] as const;
export const MemLockRequirementSchema: Schema<MemLockRequirement> =
  openEnum(MemLockRequirementValues);

/** Memory beyond the guest's own that is reserved for the virtual machine. */
export interface ReservedOverhead {
  /** Added to the memory that is reckoned for the hypervisor. */
  addedOverhead?: QuantityInput;
  memLock?: MemLockRequirement;
}

export const ReservedOverheadSchema: Schema<ReservedOverhead> = object<ReservedOverhead>({
  addedOverhead: QuantityInputSchema,
  memLock: withRules(MemLockRequirementSchema, { closed: true }),
});

/** Memory of the guest. */
export interface Memory {
  /** What the guest sees. */
  guest?: QuantityInput;
  hugepages?: Hugepages;
  /** Up to how much can be plugged into the running guest. */
  maxGuest?: QuantityInput;
  reservedOverhead?: ReservedOverhead;
}

export const MemorySchema: Schema<Memory> = object<Memory>({
  guest: QuantityInputSchema,
  hugepages: HugepagesSchema,
  maxGuest: QuantityInputSchema,
  reservedOverhead: ReservedOverheadSchema,
});
