import type { MigrationOptions } from "./migration-options.ts";

/** How memory is compressed in transit; `undefined` for no compression or an unknown method. */
export function compressionOf({ compression }: MigrationOptions): "zstd" | undefined {
  return compression === "zstd" ? "zstd" : undefined;
}
