import { hypervDependencies, isOn, wantsEvmcs } from "../defaults/hyperv-dependency.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote, required } from "./cause.ts";

/** Hyper-V features and those that they need. The reported paths are doubled, as in KubeVirt. */
export function hyperv(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const features = spec.domain.features?.hyperv;
  if (!features) return fine;
  const field = `${at}.domain.features.hyperv`;
  return join(
    hypervDependencies
      .filter(({ feature, requires }) => isOn(features, feature) && !isOn(features, requires))
      .flatMap(({ feature, requires }) =>
        invalid(
          `${field}.domain.features.hyperv.${feature}`,
          `is on, but needs ${requires}, which is off; switch it on, too`,
          `${field}.${feature}`,
        ),
      ),
    vmx(spec),
    spec.domain.features?.hypervPassthrough
      ? invalid(
          field,
          "is set together with hypervPassthrough, which uses the host's features; keep one",
        )
      : fine,
  );
}

/** The enlightened VMCS is only useful to a guest with the CPU feature vmx. */
function vmx(spec: VirtualMachineInstanceSpec): readonly Cause[] {
  if (!wantsEvmcs(spec)) return fine;
  const features = spec.domain.cpu?.features ?? [];
  if (features.length === 0) {
    return required(
      "spec.domain.cpu.features",
      "must have vmx with policy require, because evmcs is on",
    );
  }
  return each(features, ({ name, policy }, i) =>
    name !== "vmx" || policy === "require"
      ? fine
      : invalid(
          `spec.domain.cpu.features[${i}].policy`,
          `is ${quote(policy ?? "")} for vmx, which evmcs needs; set it to require`,
        ),
  );
}
