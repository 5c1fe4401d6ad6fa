import { type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { QuantityInput } from "@virtkit/api/schema";
import { LauncherPodError } from "./launcher-pod-error.ts";

/** A quantity of the VMI or the configuration; the error names its field. */
export function readAmount(value: QuantityInput, path: string): Quantity {
  try {
    return quantityFrom(value);
  } catch (cause) {
    const message = `${path}: ${(cause as Error).message}`;
    throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", message, { path, cause });
  }
}
