export type { Admission, AdmissionAnswer, AdmissionRequest } from "./admission.ts";
export { type ApiServerOptions, InProcessApiServer, type RecordedWrite } from "./api-server.ts";
export { collectGarbage } from "./garbage-collector.ts";
export { type AnyObject, type Kind, plainKind } from "./kind.ts";
