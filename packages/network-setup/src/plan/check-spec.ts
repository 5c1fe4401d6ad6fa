import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { NetworkSetupError } from "../network-setup-error.ts";

/**
 * Checks that the parts of a VMI that are read here have their shape; admission has done so for VMIs
 * of a cluster, and files come from anywhere. Throws a {@link NetworkSetupError} with the field.
 */
export function checkSpec(vmi: VirtualMachineInstance): void {
  const spec = field(vmi, "spec");
  checkNamed(field(spec, "networks"), "spec.networks");
  const devices = field(field(spec, "domain"), "devices");
  checkNamed(field(devices, "interfaces"), "spec.domain.devices.interfaces");
  checkList(field(field(vmi, "status"), "interfaces"), "status.interfaces");
}

function field(value: unknown, name: string): unknown {
  return (Object(value) as Record<string, unknown>)[name] ?? undefined;
}

function checkList(value: unknown, path: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null)) {
    return value;
  }
  throw invalid(path, "must be a list of objects");
}

function checkNamed(value: unknown, path: string): void {
  for (const [index, item] of checkList(value, path).entries()) {
    if (typeof field(item, "name") !== "string") {
      throw invalid(`${path}[${index}].name`, "must be a text");
    }
  }
}

function invalid(path: string, what: string): NetworkSetupError {
  return new NetworkSetupError("NETWORK_SPEC_INVALID", `${path} ${what}`, { path });
}
