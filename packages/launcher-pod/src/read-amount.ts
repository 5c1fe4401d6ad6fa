import { type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { QuantityInput } from "@virtkit/api/schema";
import { LauncherPodError } from "./launcher-pod-error.ts";

/** Quantities by their text: the guests of a cluster share a few sizes. Emptied when it is full. */
const known = new Map<QuantityInput, Quantity>();
const maxKnown = 1000;

/** A quantity of the VMI or the configuration; the error names its field. */
export function readAmount(value: QuantityInput, path: string): Quantity {
  return known.get(value) ?? remember(value, path);
}

function remember(value: QuantityInput, path: string): Quantity {
  try {
    const quantity = quantityFrom(value);
    if (known.size >= maxKnown) known.clear();
    known.set(value, quantity);
    return quantity;
  } catch (cause) {
    const message = `${path}: ${(cause as Error).message}`;
    throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", message, { path, cause });
  }
}
