import type { EfiConfiguration } from "../context.ts";
import type { Configurator, Draft } from "../draft.ts";
import { yesNo } from "./switch.ts";

export const firmware: Configurator = {
  name: "firmware",
  summary: "EFI or BIOS.",
  configure(draft: Draft): void {
    const { spec, context, domain } = draft;
    const { bios, efi } = spec.firmware?.bootloader ?? {};
    if (efi && context.efiConfiguration) setEfi(draft, context.efiConfiguration);
    if (bios?.useSerial) domain.os.bios = { useserial: "yes" };
  },
};

function setEfi(draft: Draft, chosen: EfiConfiguration): void {
  const { os } = draft.domain;
  if (chosen.UsesFirmwareAutoSelection) {
    os.firmware = "efi";
    os.firmwareInfo = {
      features: [
        { enabled: "yes", name: "secure-boot" },
        { enabled: "yes", name: "enrolled-keys" },
      ],
    };
    // On arm64 such firmware stores its variables elsewhere and refuses a flash file.
    if (draft.vmi.spec.architecture !== "arm64") {
      os.nvram = { format: "raw", path: variablesPath(draft) };
    }
    return;
  }
  const stateless = isStateless(draft);
  os.loader = {
    readonly: "yes",
    secure: yesNo(chosen.SecureLoader, false),
    type: stateless ? "rom" : "pflash",
    path: chosen.EFICode,
  };
  if (!stateless) {
    os.nvram = { template: chosen.EFIVars || undefined, path: variablesPath(draft) };
  }
}

/** SEV-SNP and TDX measure the firmware, so it must not hold variables. */
function isStateless({ spec: { launchSecurity } }: Draft): boolean {
  return Boolean(launchSecurity?.snp || launchSecurity?.tdx);
}

function variablesPath({ vmi, annotations, names, paths }: Draft): string {
  const nonRoot =
    Boolean(vmi.status?.runtimeUser) || Object.hasOwn(annotations, names.annotations.nonRoot);
  return `${paths.nvramDirectory(nonRoot)}/${vmi.metadata?.name ?? ""}_VARS.fd`;
}
