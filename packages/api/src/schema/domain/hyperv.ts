import { boolean, object, type Schema, string, uint32 } from "../schema.ts";
import { type FeatureState, FeatureStateSchema } from "./feature-state.ts";

/** How often a spinning processor retries before it yields. */
export interface FeatureSpinlocks {
  enabled?: boolean;
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

/** Flushes of the translation cache by call to the hypervisor. */
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

/** The vendor that the hypervisor claims to be. */
export interface FeatureVendorID {
  enabled?: boolean;
  vendorid?: string;
}

export const FeatureVendorIDSchema: Schema<FeatureVendorID> = object<FeatureVendorID>({
  enabled: boolean,
  vendorid: string,
});

/** Hyper-V enlightenments, for Windows guests. */
export interface FeatureHyperv {
  evmcs?: FeatureState;
  frequencies?: FeatureState;
  ipi?: FeatureState;
  reenlightenment?: FeatureState;
  relaxed?: FeatureState;
  reset?: FeatureState;
  runtime?: FeatureState;
  spinlocks?: FeatureSpinlocks;
  synic?: FeatureState;
  synictimer?: SyNICTimer;
  tlbflush?: TLBFlush;
  vapic?: FeatureState;
  vendorid?: FeatureVendorID;
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
