import { type OpenEnum, object, openEnum, type Schema, string } from "../schema.ts";

/** What happens where a volume names no instancetype or preference. */
export type InferFromVolumeFailurePolicy = OpenEnum<typeof InferFromVolumeFailurePolicyValues>;
export const InferFromVolumeFailurePolicyValues = ["Reject", "Ignore"] as const;
export const InferFromVolumeFailurePolicySchema: Schema<InferFromVolumeFailurePolicy> = openEnum(
  InferFromVolumeFailurePolicyValues,
);

/** The instancetype that a machine takes its size from. */
export interface InstancetypeMatcher {
  inferFromVolume?: string;
  inferFromVolumeFailurePolicy?: InferFromVolumeFailurePolicy;
  kind?: string;
  name?: string;
  revisionName?: string;
}

export const InstancetypeMatcherSchema: Schema<InstancetypeMatcher> = object<InstancetypeMatcher>({
  inferFromVolume: string,
  inferFromVolumeFailurePolicy: InferFromVolumeFailurePolicySchema,
  kind: string,
  name: string,
  revisionName: string,
});

/** The preference that a machine takes its defaults from. */
export interface PreferenceMatcher {
  inferFromVolume?: string;
  inferFromVolumeFailurePolicy?: InferFromVolumeFailurePolicy;
  kind?: string;
  name?: string;
  revisionName?: string;
}

export const PreferenceMatcherSchema: Schema<PreferenceMatcher> = object<PreferenceMatcher>({
  inferFromVolume: string,
  inferFromVolumeFailurePolicy: InferFromVolumeFailurePolicySchema,
  kind: string,
  name: string,
  revisionName: string,
});

/** A recorded copy of an instancetype or preference. */
export interface ControllerRevisionRef {
  name?: string;
}

export const ControllerRevisionRefSchema: Schema<ControllerRevisionRef> =
  object<ControllerRevisionRef>({
    name: string,
  });

/** The instancetype or preference in use, and the revision that was recorded. */
export interface InstancetypeStatusRef {
  controllerRevisionRef?: ControllerRevisionRef;
  inferFromVolume?: string;
  inferFromVolumeFailurePolicy?: InferFromVolumeFailurePolicy;
  kind?: string;
  name?: string;
}

export const InstancetypeStatusRefSchema: Schema<InstancetypeStatusRef> =
  object<InstancetypeStatusRef>(
    {
      controllerRevisionRef: ControllerRevisionRefSchema,
      inferFromVolume: string,
      inferFromVolumeFailurePolicy: InferFromVolumeFailurePolicySchema,
      kind: string,
      name: string,
    },
    { nullable: true },
  );
