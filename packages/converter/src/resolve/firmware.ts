import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { EfiConfiguration } from "../context.ts";
import { invalidContext } from "../converter-error.ts";

/** Where firmware is looked for. */
export interface FirmwareFiles {
  /** The directory. */
  readonly directory: string;
  /** Names of the files in it; `undefined` if it has everything that KubeVirt's image has. */
  readonly names: readonly string[] | undefined;
  /** Architecture whose firmware it is. */
  readonly architecture: string;
  /** Whether libvirt chooses firmware for secure boot. */
  readonly autoSelection: boolean;
}

/** Code and variables; a missing candidate is skipped. */
interface Choice {
  readonly code: readonly string[];
  /** Empty: the firmware holds no variables. */
  readonly vars: string;
}

/**
 * Chooses the firmware of a VMI that boots with EFI; `null` for any other.
 *
 * @throws ConverterError if files are missing, or no firmware meets the requirements.
 */
export function chooseFirmware(
  vmi: VirtualMachineInstance,
  files: FirmwareFiles,
): EfiConfiguration | null {
  const efi = vmi.spec.domain.firmware?.bootloader?.efi;
  if (!efi) return null;
  const secureBoot = efi.secureBoot !== false;
  const kind = guestKind(vmi);
  if (secureBoot && kind === "plain" && files.autoSelection) {
    return { EFICode: "", EFIVars: "", SecureLoader: true, UsesFirmwareAutoSelection: true };
  }
  const { code, vars } = findFiles(kind, secureBoot, files);
  const directory = files.directory && `${files.directory}/`;
  return {
    EFICode: directory + code,
    EFIVars: vars && directory + vars,
    // TDX's firmware holds its keys itself; libvirt's flag would require SMM, which TDX lacks.
    SecureLoader: secureBoot && kind !== "tdx",
    UsesFirmwareAutoSelection: false,
  };
}

type GuestKind = "plain" | "sev" | "snp" | "tdx";

function guestKind({ spec }: VirtualMachineInstance): GuestKind {
  const { sev, snp, tdx } = spec.domain.launchSecurity ?? {};
  if (snp) return "snp";
  if (sev) return "sev";
  return tdx ? "tdx" : "plain";
}

function findFiles(
  kind: GuestKind,
  secureBoot: boolean,
  files: FirmwareFiles,
): { code: string; vars: string } {
  const choice = firmwareFor(kind, secureBoot, files.architecture);
  const code = choice?.code.find((name) => isThere(name, files));
  if (choice && code !== undefined && (choice.vars === "" || isThere(choice.vars, files))) {
    return { code, vars: choice.vars };
  }
  const boot = `${secureBoot ? "with" : "without"} secure boot`;
  const message = `${files.directory} has no firmware for ${kind} guests ${boot}`;
  throw invalidContext("efiRoms", message);
}

function firmwareFor(
  kind: GuestKind,
  secureBoot: boolean,
  architecture: string,
): Choice | undefined {
  if (architecture === "arm64") {
    const plain = kind === "plain" && !secureBoot;
    return plain ? { code: ["AAVMF_CODE.fd"], vars: "AAVMF_VARS.fd" } : undefined;
  }
  switch (kind) {
    case "sev":
      return secureBoot ? undefined : { code: ["OVMF_CODE.cc.fd"], vars: "OVMF_VARS.fd" };
    case "snp":
      return secureBoot ? undefined : { code: ["OVMF.amdsev.fd"], vars: "" };
    case "tdx":
      return { code: [secureBoot ? "OVMF.inteltdx.secboot.fd" : "OVMF.inteltdx.fd"], vars: "" };
    case "plain":
      return secureBoot
        ? { code: ["OVMF_CODE.secboot.fd"], vars: "OVMF_VARS.secboot.fd" }
        : { code: ["OVMF_CODE.secboot.fd", "OVMF_CODE.fd"], vars: "OVMF_VARS.fd" };
  }
}

function isThere(name: string, { names }: FirmwareFiles): boolean {
  return names === undefined || names.includes(name);
}
