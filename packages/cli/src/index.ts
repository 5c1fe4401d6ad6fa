export type { BatchFunction } from "./batch/batch-area.ts";
export { type BatchOptions, runBatch } from "./batch/run-batch.ts";
export { type Command, type CommandModule, commands } from "./commands.ts";
export { type Io, processIo } from "./io.ts";
export { main } from "./main.ts";
export { isUsageError, UsageError } from "./usage-error.ts";
