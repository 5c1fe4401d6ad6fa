import { invalidContext, invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";

export const hypervisor: Configurator = {
  name: "hypervisor",
  summary: "KVM, Hyper-V or emulation, and the emulator for another architecture.",
  configure(draft: Draft): void {
    const { context, domain } = draft;
    if (context.hypervisorName === "hyperv-direct") {
      domain.type = context.hypervisorDeviceAvailable ? "hyperv" : emulated(draft, "/dev/mshv");
    } else if (context.allowCrossArchEmulation && isCrossArchitecture(draft)) {
      domain.type = "qemu";
      domain.devices.emulator = emulatorOf(draft);
    } else {
      domain.type = context.hypervisorDeviceAvailable ? "kvm" : emulated(draft, "/dev/kvm");
    }
  },
};

function emulated({ context }: Draft, device: string): "qemu" {
  if (context.allowEmulation) return "qemu";
  const message = `the node has no ${device}, and emulation is not allowed; allow it (useEmulation) or use another node`;
  throw invalidContext("allowEmulation", message);
}

function isCrossArchitecture({ vmi, context }: Draft): boolean {
  const guest = vmi.spec.architecture;
  return Boolean(guest && context.hostArchitecture && guest !== context.hostArchitecture);
}

const emulators: Readonly<Record<string, string>> = {
  arm64: "/usr/bin/qemu-system-aarch64",
  aarch64: "/usr/bin/qemu-system-aarch64",
  amd64: "/usr/bin/qemu-system-x86_64",
  x86_64: "/usr/bin/qemu-system-x86_64",
  s390x: "/usr/bin/qemu-system-s390x",
};

function emulatorOf({ vmi, context }: Draft): string {
  const guest = vmi.spec.architecture ?? "";
  const path = Object.hasOwn(emulators, guest) ? emulators[guest] : undefined;
  if (path === undefined) {
    throw invalidVmi(
      "spec.architecture",
      `there is no emulator for "${guest}"; use another architecture`,
    );
  }
  if (!context.host?.emulatorBinaries?.includes(path)) {
    throw invalidContext(
      "host.emulatorBinaries",
      `${path}, which "${guest}" needs, is not installed`,
    );
  }
  return path;
}
