import type { FeatureHyperv, VirtualMachineInstanceSpec } from "../schema/index.ts";

/** A Hyper-V feature that QEMU accepts only together with another one. */
export interface HypervDependency {
  readonly feature: "evmcs" | "ipi" | "tlbflush" | "synictimer" | "synic";
  readonly requires: "vapic" | "vpindex" | "synic";
}

/** The dependencies, leaves first, so that one pass switches on everything that is needed. */
export const hypervDependencies: readonly HypervDependency[] = [
  { feature: "evmcs", requires: "vapic" },
  { feature: "ipi", requires: "vpindex" },
  { feature: "tlbflush", requires: "vpindex" },
  { feature: "synictimer", requires: "synic" },
  { feature: "synic", requires: "vpindex" },
];

/** Whether a Hyper-V feature is switched on explicitly. */
export function isOn(hyperv: FeatureHyperv, feature: keyof FeatureHyperv): boolean {
  return hyperv[feature]?.enabled === true;
}

/** Whether the enlightened VMCS is requested, which needs the CPU feature vmx; a bare `{}` requests it. */
export function wantsEvmcs(spec: VirtualMachineInstanceSpec): boolean {
  const evmcs = spec.domain.features?.hyperv?.evmcs;
  return evmcs !== undefined && evmcs !== null && evmcs.enabled !== false;
}

/**
 * Switches on what the Hyper-V features of the draft need, unless the draft says otherwise. Stops at the first
 * dependency that is disabled explicitly: admission reports that one.
 */
export function defaultHypervDependencies(draft: VirtualMachineInstanceSpec): void {
  const hyperv = draft.domain.features?.hyperv;
  if (!hyperv) return;
  for (const { feature, requires } of hypervDependencies) {
    if (!isOn(hyperv, feature)) continue;
    if (hyperv[requires]?.enabled === false) return;
    hyperv[requires] = { ...hyperv[requires], enabled: true };
  }
  if (wantsEvmcs(draft)) requireVmx(draft);
}

function requireVmx({ domain }: VirtualMachineInstanceSpec): void {
  domain.cpu ??= {};
  const cpu = domain.cpu;
  cpu.features ??= [];
  const features = cpu.features;
  const vmx = features.find(({ name }) => name === "vmx");
  if (vmx) vmx.policy = "require";
  else features.push({ name: "vmx", policy: "require" });
}
