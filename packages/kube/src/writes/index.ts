export { type ApplyOptions, applyObject } from "./apply-object.ts";
export { deterministicName } from "./deterministic-name.ts";
export { EventRecorder, type EventRecorderOptions } from "./event-recorder.ts";
export { Expectations, type ExpectationsOptions } from "./expectations.ts";
export { hasFinalizer, isDeleting, withFinalizer, withoutFinalizer } from "./finalizers.ts";
export { jsonPatchBetween, type PatchBetweenOptions } from "./json-patch-between.ts";
export { type EventType, events, type KubeEvent, type ObjectReference } from "./kube-event.ts";
export { isControlledBy, ownerReferenceTo } from "./owner-references.ts";
export { type PatchObjectOptions, patchObject } from "./patch-object.ts";
