export type { AdmissionKind, AdmissionRequest } from "./admission-request.ts";
export type { Cause, CauseReason } from "./cause.ts";
export { type MutateOptions, type Mutation, mutate } from "./mutate.ts";
export { type ServiceAccounts, serviceAccounts } from "./service-accounts.ts";
