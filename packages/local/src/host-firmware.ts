import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LocalArchitecture } from "./local-architecture.ts";
import type { PodMount } from "./pod-volumes.ts";

/** EFI firmware of this host: code, and the variables that a new guest starts with. */
export interface HostFirmware {
  readonly code: string;
  readonly vars: string;
}

type FirmwareKind = "plain" | "secure";

const debian = "/usr/share/OVMF";
const fedora = "/usr/share/edk2/ovmf";
const arch = "/usr/share/edk2/x64";
const olderArch = "/usr/share/edk2-ovmf/x64";

/**
 * Where distributions put firmware, in order of preference: newer builds have flashes of 4 MiB. With
 * secure boot the variables must hold the keys; Arch has no such file.
 */
const places: Readonly<
  Record<
    `${LocalArchitecture} ${FirmwareKind}`,
    readonly (readonly [folder: string, code: string, vars: string])[]
  >
> = {
  "amd64 plain": [
    [debian, "OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"],
    [debian, "OVMF_CODE.fd", "OVMF_VARS.fd"],
    [fedora, "OVMF_CODE.fd", "OVMF_VARS.fd"],
    [arch, "OVMF_CODE.4m.fd", "OVMF_VARS.4m.fd"],
    [olderArch, "OVMF_CODE.fd", "OVMF_VARS.fd"],
  ],
  "amd64 secure": [
    [debian, "OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.ms.fd"],
    [debian, "OVMF_CODE.secboot.fd", "OVMF_VARS.ms.fd"],
    [fedora, "OVMF_CODE.secboot.fd", "OVMF_VARS.secboot.fd"],
  ],
  "arm64 plain": [
    ["/usr/share/AAVMF", "AAVMF_CODE.fd", "AAVMF_VARS.fd"],
    ["/usr/share/edk2/aarch64", "QEMU_EFI-pflash.raw", "vars-template-pflash.raw"],
    ["/usr/share/edk2/aarch64", "QEMU_CODE.fd", "QEMU_VARS.fd"],
  ],
  "arm64 secure": [],
  // Its guests boot without EFI.
  "s390x plain": [],
  "s390x secure": [],
};

/** How {@link findFirmware} looks. */
export interface FindFirmwareOptions {
  readonly secureBoot: boolean;
  /** The root below which `/usr/share` is. Default `/`. */
  readonly root?: string;
}

/** The firmware of this host that a guest boots with; undefined if there is none of its kind. */
export function findFirmware(
  architecture: LocalArchitecture,
  { secureBoot, root = "/" }: FindFirmwareOptions,
): HostFirmware | undefined {
  return places[`${architecture} ${secureBoot ? "secure" : "plain"}`]
    .map(([folder, code, vars]) => ({
      code: join(root, folder, code),
      vars: join(root, folder, vars),
    }))
    .find(({ code, vars }) => existsSync(code) && existsSync(vars));
}

/** Packages with firmware on the known distributions. */
export function firmwareHint(architecture: LocalArchitecture): string {
  if (architecture === "s390x") return "s390x has none: leave EFI out";
  return architecture === "arm64"
    ? "Debian: apt-get install qemu-efi-aarch64; Fedora: dnf install edk2-aarch64; Arch: pacman -S edk2-aarch64"
    : "Debian: apt-get install ovmf; Fedora: dnf install edk2-ovmf; Arch: pacman -S edk2-ovmf";
}

/** Where a sandbox has the firmware, under the names that KubeVirt's image has. */
export const firmwareFolder = "/run/virtkit-firmware";

/** The names under which the conversion asks for firmware. */
export function firmwareNames(
  architecture: LocalArchitecture,
  secureBoot: boolean,
): { readonly code: string; readonly vars: string } {
  if (architecture === "arm64") return { code: "AAVMF_CODE.fd", vars: "AAVMF_VARS.fd" };
  const kind = secureBoot ? ".secboot" : "";
  return { code: `OVMF_CODE${kind}.fd`, vars: `OVMF_VARS${kind}.fd` };
}

/** The mounts that make each distribution's firmware available under the same names. */
export function firmwareMounts(
  { code, vars }: HostFirmware,
  architecture: LocalArchitecture,
  secureBoot: boolean,
): readonly PodMount[] {
  const names = firmwareNames(architecture, secureBoot);
  const mount = (source: string, name: string): PodMount => ({
    source,
    target: `${firmwareFolder}/${name}`,
    readOnly: true,
    kind: "file",
  });
  return [mount(code, names.code), mount(vars, names.vars)];
}
