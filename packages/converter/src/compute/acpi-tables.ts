import type { Volume } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import type { LauncherPaths } from "../launcher-paths.ts";
import type { DomainAcpiTable } from "../model/os.ts";

export const acpiTables: Configurator = {
  name: "acpi-tables",
  summary: "Licence tables for Windows, from Secrets.",
  configure({ vmi, spec, domain, paths }: Draft): void {
    const acpi = spec.firmware?.acpi;
    if (!acpi) return;
    if (!acpi.slicNameRef && !acpi.msdmNameRef) {
      const path = "spec.domain.firmware.acpi";
      throw invalidVmi(path, "does not name a table; set slicNameRef or msdmNameRef, or remove it");
    }
    const volumes = vmi.spec.volumes ?? [];
    const tables: DomainAcpiTable[] = [];
    if (acpi.slicNameRef) tables.push(tableOf("slic", acpi.slicNameRef, volumes, paths));
    if (acpi.msdmNameRef) tables.push(tableOf("msdm", acpi.msdmNameRef, volumes, paths));
    domain.os.acpi = { tables };
  },
};

function tableOf(
  type: "slic" | "msdm",
  name: string,
  volumes: readonly Volume[],
  paths: LauncherPaths,
): DomainAcpiTable {
  const path = `spec.domain.firmware.acpi.${type}NameRef`;
  const volume = volumes.find((candidate) => candidate.name === name);
  if (!volume) throw invalidVmi(path, `volume "${name}" does not exist; add one with a Secret`);
  if (!volume.secret) throw invalidVmi(path, `volume "${name}" is not a Secret; use one that is`);
  return { type, path: `${paths.secretDirectory(name)}/${type}.bin` };
}
