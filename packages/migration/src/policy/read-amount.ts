import { type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { QuantityInput } from "@virtkit/api/schema";
import { MigrationError } from "../migration-error.ts";

/** A quantity of an object; the error names its field. */
export function readAmount(value: QuantityInput, path: string): Quantity {
  try {
    return quantityFrom(value);
  } catch (cause) {
    const message = `${path}: ${(cause as Error).message}`;
    throw new MigrationError("MIGRATION_QUANTITY_INVALID", message, { path, cause });
  }
}
