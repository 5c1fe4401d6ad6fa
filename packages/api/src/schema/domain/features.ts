import { boolean, object, type Schema } from "../schema.ts";
import { type FeatureState, FeatureStateSchema } from "./feature-state.ts";
import { type FeatureHyperv, FeatureHypervSchema } from "./hyperv.ts";

/** The interrupt controller. */
export interface FeatureAPIC {
  enabled?: boolean;
  /** Paravirtual end-of-interrupt. */
  endOfInterrupt?: boolean;
}

export const FeatureAPICSchema: Schema<FeatureAPIC> = object<FeatureAPIC>({
  enabled: boolean,
  endOfInterrupt: boolean,
});

/** Turns on every Hyper-V enlightenment that the node supports. */
export interface HyperVPassthrough {
  enabled?: boolean;
}

export const HyperVPassthroughSchema: Schema<HyperVPassthrough> = object<HyperVPassthrough>({
  enabled: boolean,
});

/** What the guest sees of KVM. */
export interface FeatureKVM {
  /** Hides KVM from the guest. */
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
