export { detectIsolation, type Isolation, inspectProcess, type SocketOwner } from "./isolation.ts";
export { type ProcessStatus, parseStatus } from "./parse-status.ts";
export { type ProcessFile, ProcessHandle } from "./process-handle.ts";
