import type { Chassis } from "@virtkit/api/schema";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainSysinfoEntry } from "../model/os.ts";

export const sysinfo: Configurator = {
  name: "sysinfo",
  summary: "What the guest reads about its manufacturer, serial number and chassis.",
  configure(draft: Draft): void {
    draft.domain.sysinfo = {
      type: "smbios",
      bios: { entries: [] },
      system: { entries: systemEntries(draft) },
      baseBoard: { entries: [] },
      chassis: { entries: draft.spec.chassis ? chassisEntries(draft.spec.chassis) : [] },
    };
  },
};

function systemEntries({ spec: { firmware }, context: { smBios } }: Draft): DomainSysinfoEntry[] {
  const entries: DomainSysinfoEntry[] = [];
  if (firmware) {
    entries.push({ name: "uuid", value: firmware.uuid ?? "" });
    if (firmware.serial) entries.push({ name: "serial", value: firmware.serial });
  }
  if (smBios) {
    entries.push(
      { name: "manufacturer", value: smBios.manufacturer ?? "" },
      { name: "family", value: smBios.family ?? "" },
      { name: "product", value: smBios.product ?? "" },
      { name: "sku", value: smBios.sku ?? "" },
      { name: "version", value: smBios.version ?? "" },
    );
  }
  return entries;
}

function chassisEntries({
  manufacturer,
  version,
  serial,
  asset,
  sku,
}: Chassis): DomainSysinfoEntry[] {
  return [
    { name: "manufacturer", value: manufacturer ?? "" },
    { name: "version", value: version ?? "" },
    { name: "serial", value: serial ?? "" },
    { name: "asset", value: asset ?? "" },
    { name: "sku", value: sku ?? "" },
  ];
}
