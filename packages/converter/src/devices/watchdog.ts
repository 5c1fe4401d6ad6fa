import type { Configurator, Draft } from "../draft.ts";

export const watchdog: Configurator = {
  name: "watchdog",
  summary: "A watchdog of the kind that the architecture supports.",
  configure({ devices, architecture, domain }: Draft): void {
    if (devices.watchdog) domain.devices.watchdogs.push(architecture.watchdog(devices.watchdog));
  },
};
