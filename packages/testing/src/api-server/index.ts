export type { Admission, AdmissionAnswer, AdmissionRequest } from "./admission.ts";
export { InProcessApiServer } from "./api-server.ts";
export type { AccessQuestion, Authorizer } from "./authorizer.ts";
export { collectGarbage } from "./garbage-collector.ts";
export { type AnyObject, type Kind, plainKind } from "./kind.ts";
export type { ApiServerOptions, RecordedWrite } from "./server-state.ts";
