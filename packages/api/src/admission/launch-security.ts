import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, forbidden, invalid, quote } from "./cause.ts";

const technologies = ["sev", "snp", "tdx"] as const;
type Technology = (typeof technologies)[number];

/** Guests whose memory the host cannot read: what the hardware supports, and what would undo the protection. */
export function launchSecurity(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const security = spec.domain.launchSecurity;
  if (!security || spec.architecture === "s390x") return fine;
  if (spec.architecture !== "amd64") {
    return invalid(
      `${at}.architecture`,
      `is ${quote(spec.architecture ?? "")}; launchSecurity is only supported on amd64 and s390x`,
    );
  }
  const field = `${at}.launchSecurity`;
  const subject = `${at}.domain.launchSecurity`;
  const [technology, ...others] = technologies.filter((name) => isSet(security[name]));
  if (!technology || others.length > 0) {
    return forbidden(field, `must have exactly one of ${technologies.join(", ")}`, subject);
  }
  const gate = technology === "tdx" ? "WorkloadEncryptionTDX" : "WorkloadEncryptionSEV";
  if (!config.gate(gate)) {
    return invalid(
      field,
      `is ${technology}, which needs the feature gate ${gate}; turn it on`,
      subject,
    );
  }
  return conflicts(spec, technology).flatMap((conflict) =>
    invalid(field, `is ${technology}, and ${conflict}`, subject),
  );
}

function conflicts(spec: VirtualMachineInstanceSpec, technology: Technology): readonly string[] {
  const { features, launchSecurity: security, devices } = spec.domain;
  const smm = features?.smm;
  const found: string[] = [];
  if (technology === "tdx" && smm && smm.enabled !== false) {
    found.push("features.smm is on; switch it off");
  }
  found.push(...firmwareConflicts(spec, technology));
  if (security?.sev?.attestation && spec.startStrategy !== "Paused") {
    found.push("attestation needs a guest that waits; set startStrategy to Paused");
  }
  for (const { name, bootOrder } of devices.interfaces ?? []) {
    if (isSet(bootOrder)) {
      found.push(
        `the interface ${quote(name)} has a bootOrder, but confidential guests do not boot from the network; remove it`,
      );
    }
  }
  return found;
}

function firmwareConflicts(
  { domain }: VirtualMachineInstanceSpec,
  technology: Technology,
): readonly string[] {
  const efi = domain.firmware?.bootloader?.efi;
  if (!efi) return ["EFI is missing; set firmware.bootloader.efi"];
  const found: string[] = [];
  if (technology !== "tdx" && efi.secureBoot !== false) {
    found.push("secure boot is on; set firmware.bootloader.efi.secureBoot to false");
  }
  if (technology !== "sev" && efi.persistent) {
    found.push("firmware.bootloader.efi.persistent is true; set it to false");
  }
  return found;
}
