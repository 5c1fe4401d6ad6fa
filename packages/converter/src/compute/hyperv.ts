import type { FeatureHyperv, FeatureState } from "@virtkit/api/schema";
import type { DomainFeatureState, DomainHyperv } from "../model/features.ts";
import { onOff } from "./switch.ts";

/** Hyper-V enlightenments: each one that the VMI mentions is on unless it says off. */
export function hypervOf(source: FeatureHyperv): DomainHyperv {
  const { spinlocks, synictimer, tlbflush, vendorid } = source;
  return {
    relaxed: stateOf(source.relaxed),
    vapic: stateOf(source.vapic),
    spinlocks: spinlocks
      ? { state: onOff(spinlocks.enabled, true), retries: spinlocks.spinlocks ?? undefined }
      : undefined,
    vpindex: stateOf(source.vpindex),
    runtime: stateOf(source.runtime),
    synic: stateOf(source.synic),
    stimer: synictimer
      ? { state: onOff(synictimer.enabled, true), direct: stateOf(synictimer.direct) }
      : undefined,
    reset: stateOf(source.reset),
    vendorId: vendorid
      ? { state: onOff(vendorid.enabled, true), value: vendorid.vendorid || undefined }
      : undefined,
    frequencies: stateOf(source.frequencies),
    reenlightenment: stateOf(source.reenlightenment),
    tlbflush: tlbflush
      ? {
          state: onOff(tlbflush.enabled, true),
          direct: stateOf(tlbflush.direct),
          extended: stateOf(tlbflush.extended),
        }
      : undefined,
    ipi: stateOf(source.ipi),
    evmcs: stateOf(source.evmcs),
  };
}

function stateOf(source: FeatureState | null | undefined): DomainFeatureState | undefined {
  return source ? { state: onOff(source.enabled, true) } : undefined;
}
