import type { Configurator, Draft } from "../draft.ts";

/** Devices through which a crashing guest says so. */
export const panic: Configurator = {
  name: "panic",
  configure({ devices, domain }: Draft): void {
    for (const { model } of devices.panicDevices ?? []) {
      domain.devices.panics.push({ model: model ?? undefined });
    }
  },
};
