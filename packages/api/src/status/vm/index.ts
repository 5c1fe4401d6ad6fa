export { clonedClaims, type DataSource, type DataVolumePlan } from "../data-volume-plan.ts";
export { memoryDumpRequestOf } from "../memory-dump-request.ts";
export { controlledBy } from "../owner-reference.ts";
export { isMigrating } from "../printable-status.ts";
export { isHotpluggable, withRestartRequired } from "../restart-required.ts";
export { claimNameOf, inNamespaceOf, type VmStorage, volumesOf } from "../vm-storage.ts";
export { volumeRequestsOf } from "../volume-requests.ts";
