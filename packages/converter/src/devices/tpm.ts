import type { Configurator, Draft } from "../draft.ts";

export const tpm: Configurator = {
  name: "tpm",
  summary: "An emulated TPM 2.0; one with persistent state uses the newer command interface.",
  configure({ devices, domain }: Draft): void {
    if (!devices.tpm || devices.tpm.enabled === false) return;
    const persistent = devices.tpm.persistent === true;
    domain.devices.tpms.push({
      model: persistent ? "tpm-crb" : "tpm-tis",
      backend: {
        type: "emulator",
        version: "2.0",
        persistentState: persistent ? "yes" : undefined,
      },
    });
  },
};
