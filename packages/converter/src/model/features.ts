import { attribute, child, type ElementType, element, flag, numberAttribute } from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** Features of the virtual hardware. */
export interface DomainFeatures extends Extensible {
  acpi?: true | undefined;
  apic?: true | undefined;
  hyperv?: DomainHyperv | undefined;
  kvm?: DomainKvmFeatures | undefined;
  pvspinlock?: DomainFeatureState | undefined;
  pmu?: DomainFeatureState | undefined;
  vmport?: DomainFeatureState | undefined;
  smm?: true | undefined;
}

/** `on` or `off`. */
export interface DomainFeatureState extends Extensible {
  state?: string | undefined;
}

/** What KVM tells the guest. */
export interface DomainKvmFeatures extends Extensible {
  hidden?: DomainFeatureState | undefined;
  hintDedicated?: DomainFeatureState | undefined;
}

/** Enlightenments for Windows guests. */
export interface DomainHyperv extends Extensible {
  mode?: string | undefined;
  relaxed?: DomainFeatureState | undefined;
  vapic?: DomainFeatureState | undefined;
  spinlocks?: DomainSpinlocks | undefined;
  vpindex?: DomainFeatureState | undefined;
  runtime?: DomainFeatureState | undefined;
  synic?: DomainFeatureState | undefined;
  stimer?: DomainSyntheticTimer | undefined;
  reset?: DomainFeatureState | undefined;
  vendorId?: DomainVendorId | undefined;
  frequencies?: DomainFeatureState | undefined;
  reenlightenment?: DomainFeatureState | undefined;
  tlbflush?: DomainTlbFlush | undefined;
  ipi?: DomainFeatureState | undefined;
  evmcs?: DomainFeatureState | undefined;
}

/** How often a spinning guest CPU tries before it yields. */
export interface DomainSpinlocks extends Extensible {
  state?: string | undefined;
  retries?: number | undefined;
}

/** Timers of the synthetic interrupt controller. */
export interface DomainSyntheticTimer extends Extensible {
  state?: string | undefined;
  direct?: DomainFeatureState | undefined;
}

/** Who the hypervisor says it is. */
export interface DomainVendorId extends Extensible {
  state?: string | undefined;
  value?: string | undefined;
}

/** TLB flushes by hypercall. */
export interface DomainTlbFlush extends Extensible {
  state?: string | undefined;
  direct?: DomainFeatureState | undefined;
  extended?: DomainFeatureState | undefined;
}

const stateElement: ElementType<DomainFeatureState> = element(() => ({ state: attribute() }));

const hypervElement: ElementType<DomainHyperv> = element(() => ({
  mode: attribute(),
  relaxed: child(stateElement),
  vapic: child(stateElement),
  spinlocks: child(
    element<DomainSpinlocks>(() => ({ state: attribute(), retries: numberAttribute() })),
  ),
  vpindex: child(stateElement),
  runtime: child(stateElement),
  synic: child(stateElement),
  stimer: child(
    element<DomainSyntheticTimer>(() => ({ state: attribute(), direct: child(stateElement) })),
  ),
  reset: child(stateElement),
  vendorId: child(
    element<DomainVendorId>(() => ({ state: attribute(), value: attribute() })),
    "vendor_id",
  ),
  frequencies: child(stateElement),
  reenlightenment: child(stateElement),
  tlbflush: child(
    element<DomainTlbFlush>(() => ({
      state: attribute(),
      direct: child(stateElement),
      extended: child(stateElement),
    })),
  ),
  ipi: child(stateElement),
  evmcs: child(stateElement),
}));

export const featuresElement: ElementType<DomainFeatures> = element(() => ({
  acpi: flag(),
  apic: flag(),
  hyperv: child(hypervElement),
  kvm: child(
    element<DomainKvmFeatures>(() => ({
      hidden: child(stateElement),
      hintDedicated: child(stateElement, "hint-dedicated"),
    })),
  ),
  pvspinlock: child(stateElement),
  pmu: child(stateElement),
  vmport: child(stateElement),
  smm: flag(),
}));
