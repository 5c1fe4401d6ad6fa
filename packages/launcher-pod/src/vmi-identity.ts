import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { LauncherPodError } from "./launcher-pod-error.ts";

/** Name and namespace of a VMI. Throws if one is missing: its Pod could not be named. */
export function vmiIdentity({ metadata }: VirtualMachineInstance): {
  readonly name: string;
  readonly namespace: string;
} {
  return {
    name: required(metadata?.name, "metadata.name"),
    namespace: required(metadata?.namespace, "metadata.namespace"),
  };
}

function required(value: unknown, path: string): string {
  if (typeof value === "string" && value !== "") return value;
  const message = `${path} is missing; a VMI without it cannot have a Pod`;
  throw new LauncherPodError("LAUNCHER_POD_VMI_INVALID", message, { path });
}
