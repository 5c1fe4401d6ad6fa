import { MigrationError } from "../migration-error.ts";

/**
 * Reads a list of objects that was not validated. If it is not a list, or an item is not an object, throws an error
 * with the path.
 */
export function readList<T extends object>(list: readonly T[], path: string): readonly T[] {
  if (!Array.isArray(list)) throw unfit(list, path, "a list");
  const odd = list.findIndex((item) => typeof item !== "object" || item === null);
  if (odd >= 0) throw unfit(list[odd], `${path}[${odd}]`, "an object");
  return list;
}

function unfit(value: unknown, path: string, wanted: string): MigrationError {
  const found = value === null ? "null" : typeof value;
  const message = `${path} is ${found}; give ${wanted}`;
  return new MigrationError("MIGRATION_INPUT_INVALID", message, { path });
}
