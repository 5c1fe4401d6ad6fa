import type { Configurator, Draft } from "../draft.ts";

export const virtiofs: Configurator = {
  name: "virtiofs",
  summary: "Directories shared through virtiofs daemons, which run in separate containers.",
  configure({ devices, paths, domain }: Draft): void {
    for (const { name, virtiofs: shared } of devices.filesystems ?? []) {
      if (!shared) continue;
      domain.devices.filesystems.push({
        type: "mount",
        accessMode: "passthrough",
        driver: { type: "virtiofs", queue: 1024 },
        source: { dir: "", socket: paths.virtiofsSocket(name ?? "") },
        target: { dir: name || undefined },
      });
    }
  },
};
