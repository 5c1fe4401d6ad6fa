import type { Features } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainFeatures, DomainHyperv } from "../model/features.ts";
import { hypervOf } from "./hyperv.ts";
import { onOff } from "./switch.ts";

export const features: Configurator = {
  name: "features",
  summary: "ACPI, APIC, SMM, KVM settings, Hyper-V enlightenments.",
  configure({ spec, architecture, context, domain }: Draft): void {
    const target: DomainFeatures = {
      acpi: undefined,
      apic: undefined,
      hyperv: undefined,
      kvm: undefined,
      pvspinlock: undefined,
      pmu: undefined,
      vmport: undefined,
      smm: undefined,
    };
    domain.features = target;
    const source = spec.features;
    if (!source) return;
    addSwitches(target, source);
    target.hyperv = enlightenments(source);
    if (context.useLaunchSecurityTDX) target.pmu = { state: "off" };
    if (architecture.hasVmport) target.vmport = { state: "off" };
  },
};

function addSwitches(target: DomainFeatures, { acpi, smm, apic, kvm, pvspinlock }: Features): void {
  if (acpi?.enabled !== false) target.acpi = true;
  if (smm && smm.enabled !== false) target.smm = true;
  if (apic && apic.enabled !== false) target.apic = true;
  if (kvm) target.kvm = { hidden: { state: onOff(kvm.hidden, false) } };
  if (pvspinlock) target.pvspinlock = { state: onOff(pvspinlock.enabled, true) };
}

function enlightenments({ hyperv, hypervPassthrough }: Features): DomainHyperv | undefined {
  if (hyperv) return hypervOf(hyperv);
  if (!hypervPassthrough) return undefined;
  if (typeof hypervPassthrough.enabled !== "boolean") {
    const path = "spec.domain.features.hypervPassthrough.enabled";
    throw invalidVmi(path, "is not set; set it to true or false, or remove hypervPassthrough");
  }
  return hypervPassthrough.enabled ? { mode: "passthrough" } : undefined;
}
