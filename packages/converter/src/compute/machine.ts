import type { Configurator, Draft } from "../draft.ts";

export const machine: Configurator = {
  name: "machine",
  summary: "Machine type, SMBIOS mode, boot menu.",
  configure({ vmi, spec, architecture, domain }: Draft): void {
    domain.os.type.machine = spec.machine?.type || architecture.defaultMachine;
    if (architecture.hasSmbios) domain.os.smbios = { mode: "sysinfo" };
    // A guest that starts paused gives time to open its display and enter the menu.
    if (vmi.spec.startStrategy === "Paused") {
      domain.os.bootmenu = { enable: "yes", timeout: 10_000 };
    }
  },
};
