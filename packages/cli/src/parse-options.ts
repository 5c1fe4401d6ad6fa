import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "./usage-error.ts";

type Config = Pick<ParseArgsConfig, "options" | "allowPositionals">;

/** Node's `parseArgs`, with its errors as a `UsageError`. */
export function parseOptions<const T extends Config>(
  args: readonly string[],
  config: T,
): ReturnType<typeof parseArgs<T & { args: string[] }>> {
  try {
    return parseArgs({ ...config, args: [...args] });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
