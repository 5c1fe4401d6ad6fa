export { isReady, type NoteStatusOptions, noteStatus } from "./note-status.ts";
export { readTrace, removeTrace, Trace, type TraceNote } from "./trace.ts";
