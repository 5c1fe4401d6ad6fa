import type { KernelBoot, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { absolutePath } from "./absolute-path.ts";
import { type Cause, fine, invalid, join, required } from "./cause.ts";

/** How the guest boots: one kind of firmware, and optionally a kernel from a container image. */
export function firmware(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const field = `${at}.domain.firmware`;
  const { bootloader, kernelBoot: kernel } = spec.domain.firmware ?? {};
  return join(
    bootloader?.efi && bootloader.bios
      ? invalid(`${field}.bootloader`, "has both efi and bios; keep one")
      : fine,
    kernelBoot(kernel, `${field}.kernelBoot`),
    secureBoot(spec, at),
  );
}

function kernelBoot(boot: KernelBoot | undefined, field: string): readonly Cause[] {
  if (!boot) return fine;
  const { container } = boot;
  if (!container) {
    if (!boot.kernelArgs) return fine;
    return invalid(
      `${field}.kernelArgs`,
      "is set, but there is no kernel; set container, or remove it",
    );
  }
  const { kernelPath, initrdPath } = container;
  const at = `${field}.container`;
  return join(
    container.image ? fine : required(`${at}.image`, "is missing; name the image with the kernel"),
    kernelPath || initrdPath
      ? fine
      : required(at, "has neither kernelPath nor initrdPath; set one"),
    kernelPath ? absolutePath(kernelPath, `${at}.kernelPath`) : fine,
    initrdPath ? absolutePath(initrdPath, `${at}.initrdPath`) : fine,
  );
}

/** With EFI, secure boot is on by default and keeps its keys in SMM; TDX does not need it. */
function secureBoot({ domain }: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const efi = domain.firmware?.bootloader?.efi;
  const smm = domain.features?.smm;
  if (!efi || efi.secureBoot === false || domain.launchSecurity?.tdx) return fine;
  if (smm && smm.enabled !== false) return fine;
  return invalid(
    `${at}.domain`,
    "uses EFI with secure boot, which needs SMM; set features.smm.enabled to true or firmware.bootloader.efi.secureBoot to false",
  );
}
