export { type Exploration, type ExploreOptions, explore, type Violation } from "./explore.ts";
export { type Codec, type Emit, jsonCodec, type Model, type StepKind } from "./model.ts";
export { replay, type Trace, traceText } from "./trace.ts";
