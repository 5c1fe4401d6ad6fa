import type { Configurator, Draft } from "../draft.ts";

export const panic: Configurator = {
  name: "panic",
  summary: "Devices through which a guest reports a crash.",
  configure({ devices, domain }: Draft): void {
    for (const { model } of devices.panicDevices ?? []) {
      domain.devices.panics.push({ model: model ?? undefined });
    }
  },
};
