import type { MigrationOptions } from "./migration-options.ts";

/** How memory is compressed on its way; `undefined` for not at all, and for a way that is unknown. */
export function compressionOf({ compression }: MigrationOptions): "zstd" | undefined {
  return compression === "zstd" ? "zstd" : undefined;
}
