import { boolean, object, type Schema, string, uint32 } from "../schema.ts";
import { type FeatureState, FeatureStateSchema } from "./feature-state.ts";

/** How often a spinning CPU retries before it yields. */
export interface FeatureSpinlocks {
  enabled?: boolean;
  /** Number of retries; at least 4096, which is the default. */
  spinlocks?: number;
}

export const FeatureSpinlocksSchema: Schema<FeatureSpinlocks> = object<FeatureSpinlocks>({
  enabled: boolean,
  spinlocks: uint32,
});

/** Timers of the synthetic interrupt controller. */
export interface SyNICTimer {
  direct?: FeatureState;
  enabled?: boolean;
}

export const SyNICTimerSchema: Schema<SyNICTimer> = object<SyNICTimer>({
  direct: FeatureStateSchema,
  enabled: boolean,
});

/** TLB flushes by hypercall. */
export interface TLBFlush {
  direct?: FeatureState;
  enabled?: boolean;
  extended?: FeatureState;
}

export const TLBFlushSchema: Schema<TLBFlush> = object<TLBFlush>({
  direct: FeatureStateSchema,
  enabled: boolean,
  extended: FeatureStateSchema,
});

/** The vendor that the hypervisor reports. */
export interface FeatureVendorID {
  enabled?: boolean;
  /** At most 12 characters. */
  vendorid?: string;
}

export const FeatureVendorIDSchema: Schema<FeatureVendorID> = object<FeatureVendorID>({
  enabled: boolean,
  vendorid: string,
});

/** Hyper-V enlightenments, for Windows guests. */
export interface FeatureHyperv {
  /** Nested virtualisation with Intel's enlightened VMCS. */
  evmcs?: FeatureState;
  /** Tells the guest the frequencies of its clocks. */
  frequencies?: FeatureState;
  /** Inter-processor interrupts by hypercall. */
  ipi?: FeatureState;
  /** Tells the guest when a migration has changed the clock's frequency. */
  reenlightenment?: FeatureState;
  /** Keeps the guest from mistaking a busy host for a hang. */
  relaxed?: FeatureState;
  /** A register with which the guest resets itself. */
  reset?: FeatureState;
  /** Tells the guest how long its CPUs really ran. */
  runtime?: FeatureState;
  spinlocks?: FeatureSpinlocks;
  /** The synthetic interrupt controller. */
  synic?: FeatureState;
  synictimer?: SyNICTimer;
  tlbflush?: TLBFlush;
  /** The paravirtual interrupt controller. */
  vapic?: FeatureState;
  vendorid?: FeatureVendorID;
  /** Numbers of the virtual CPUs. */
  vpindex?: FeatureState;
}

export const FeatureHypervSchema: Schema<FeatureHyperv> = object<FeatureHyperv>({
  evmcs: FeatureStateSchema,
  frequencies: FeatureStateSchema,
  ipi: FeatureStateSchema,
  reenlightenment: FeatureStateSchema,
  relaxed: FeatureStateSchema,
  reset: FeatureStateSchema,
  runtime: FeatureStateSchema,
  spinlocks: FeatureSpinlocksSchema,
  synic: FeatureStateSchema,
  synictimer: SyNICTimerSchema,
  tlbflush: TLBFlushSchema,
  vapic: FeatureStateSchema,
  vendorid: FeatureVendorIDSchema,
  vpindex: FeatureStateSchema,
});
