export { readTrace, removeTrace, Trace, type TraceNote } from "./trace.ts";
