import { boolean, object, type Schema } from "../schema.ts";
import { type FeatureState, FeatureStateSchema } from "./feature-state.ts";
import { type FeatureHyperv, FeatureHypervSchema } from "./hyperv.ts";

/** The interrupt controller. */
export interface FeatureAPIC {
  enabled?: boolean;
  /** Paravirtual acknowledgement of interrupts. */
  endOfInterrupt?: boolean;
}

export const FeatureAPICSchema: Schema<FeatureAPIC> = object<FeatureAPIC>({
  enabled: boolean,
  endOfInterrupt: boolean,
});

/** Turns on every Hyper-V enlightenment that the node has. */
export interface HyperVPassthrough {
  enabled?: boolean;
}

export const HyperVPassthroughSchema: Schema<HyperVPassthrough> = object<HyperVPassthrough>({
  enabled: boolean,
});

/** What the guest learns of KVM. */
export interface FeatureKVM {
  /** The guest does not learn that it runs under KVM. */
  hidden?: boolean;
}

export const FeatureKVMSchema: Schema<FeatureKVM> = object<FeatureKVM>({
  hidden: boolean,
});

/** Features of the hypervisor that the guest sees. */
export interface Features {
  acpi?: FeatureState;
  apic?: FeatureAPIC;
  hyperv?: FeatureHyperv;
  hypervPassthrough?: HyperVPassthrough;
  kvm?: FeatureKVM;
  /** Paravirtual spinlocks. */
  pvspinlock?: FeatureState;
  /** System management mode; secure boot needs it. */
  smm?: FeatureState;
}

export const FeaturesSchema: Schema<Features> = object<Features>({
  acpi: FeatureStateSchema,
  apic: FeatureAPICSchema,
  hyperv: FeatureHypervSchema,
  hypervPassthrough: HyperVPassthroughSchema,
  kvm: FeatureKVMSchema,
  pvspinlock: FeatureStateSchema,
  smm: FeatureStateSchema,
});
