export { type Command, type CommandModule, commands } from "./commands.ts";
export { type Io, processIo } from "./io.ts";
export { main } from "./main.ts";
export { isUsageError, UsageError } from "./usage-error.ts";
