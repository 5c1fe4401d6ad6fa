import { stringify } from "yaml";
import { type Io, writeAll } from "./io.ts";
import { UsageError } from "./usage-error.ts";

/** How objects are written. */
export type ObjectFormat = "json" | "yaml";

/** The value of `-o`, which must be one of `allowed`; throws a `UsageError` otherwise. */
export function outputFormat<const Format extends string>(
  value: string | undefined,
  allowed: readonly [Format, ...Format[]],
): Format {
  if (value === undefined) return allowed[0];
  const format = allowed.find((known) => known === value);
  if (format === undefined) throw new UsageError(`-o ${value}: use one of ${allowed.join(", ")}`);
  return format;
}

/**
 * Objects as text. YAML: documents separated by `---`, quoted so that readers of YAML 1.1 (kubectl) and 1.2
 * agree. JSON: one indented object after the other, as `kubectl` and `jq` read it.
 */
export function formatObjects(values: readonly unknown[], format: ObjectFormat): string {
  if (format === "json") {
    return values.map((value) => `${JSON.stringify(value, undefined, 2)}\n`).join("");
  }
  // Through JSON first: toJSON is respected, and undefined is left out.
  const plain = values.map((value) => JSON.parse(JSON.stringify(value ?? null)) as unknown);
  return plain
    .map((value) =>
      stringify(value, {
        schema: "core",
        compat: "yaml-1.1",
        lineWidth: 0,
        aliasDuplicateObjects: false,
      }),
    )
    .join("---\n");
}

/** Writes objects to stdout. */
export async function writeObjects(
  io: Io,
  values: readonly unknown[],
  format: ObjectFormat,
): Promise<void> {
  await writeAll(io.stdout, formatObjects(values, format));
}
