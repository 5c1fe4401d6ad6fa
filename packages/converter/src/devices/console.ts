import type { Configurator, Draft } from "../draft.ts";

export const serialConsole: Configurator = {
  name: "console",
  summary: "The serial console and its log.",
  configure({ vmi, devices, context, paths, domain }: Draft): void {
    if (devices.autoattachSerialConsole === false) return;
    const path = paths.guestSocket(vmi.metadata?.uid ?? "", "virt-serial0");
    domain.devices.serials.push({
      type: "unix",
      source: { mode: "bind", path },
      log: context.serialConsoleLog ? { file: `${path}-log`, append: "on" } : undefined,
      target: { port: 0 },
      alias: undefined,
    });
    domain.devices.consoles.push({ type: "pty", target: { type: "serial", port: 0 } });
  },
};
