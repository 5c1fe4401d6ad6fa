import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, fine, invalid, oneOf, quote } from "./cause.ts";
import { matchesGlob } from "./glob.ts";

/** The machine type must be one that the cluster emulates for the architecture. */
export function emulatedMachine(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const type = spec.domain.machine?.type;
  if (!type) return fine;
  const patterns = config.emulatedMachines(spec.architecture ?? "");
  if (patterns.some((pattern) => matchesGlob(pattern, type))) return fine;
  return invalid(
    `${at}.domain.machine.type`,
    `is ${quote(type)}, which this cluster does not emulate; use one that matches ${oneOf(patterns)}, or leave it out`,
  );
}

/** ACPI tables come from Secrets, through volumes of the spec. */
export function acpiTables(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const acpi = spec.domain.firmware?.acpi;
  if (!acpi) return fine;
  const field = `${at}.acpi`;
  const real = `${at}.domain.firmware.acpi`;
  if (!acpi.slicNameRef && !acpi.msdmNameRef) {
    return invalid(
      field,
      "does not name a table; set slicNameRef or msdmNameRef, or remove it",
      real,
    );
  }
  return (["slicNameRef", "msdmNameRef"] as const).flatMap((table) =>
    acpiTable(spec, acpi[table], { field: `${field}.${table}`, subject: `${real}.${table}` }),
  );
}

function acpiTable(
  spec: VirtualMachineInstanceSpec,
  name: string | undefined,
  { field, subject }: { field: string; subject: string },
): readonly Cause[] {
  if (!name) return fine;
  const volume = spec.volumes?.find((candidate) => candidate.name === name);
  if (volume?.secret) return fine;
  const found = volume ? "which is not a secret volume" : "but there is no such volume";
  return invalid(field, `is ${quote(name)}, ${found}; name a volume with a secret`, subject);
}
