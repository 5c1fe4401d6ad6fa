import type { Configurator, Draft } from "../draft.ts";

/** A watchdog of the kind that the architecture has. */
export const watchdog: Configurator = {
  name: "watchdog",
  configure({ devices, architecture, domain }: Draft): void {
    if (devices.watchdog) domain.devices.watchdogs.push(architecture.watchdog(devices.watchdog));
  },
};
