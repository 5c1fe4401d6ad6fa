import { type OpenEnum, object, openEnum, type Schema, string } from "../schema.ts";

/** What happens if a volume does not name an instancetype or preference. */
export type InferFromVolumeFailurePolicy = OpenEnum<typeof InferFromVolumeFailurePolicyValues>;
export const InferFromVolumeFailurePolicyValues = ["Reject", "Ignore"] as const;
export const InferFromVolumeFailurePolicySchema: Schema<InferFromVolumeFailurePolicy> = openEnum(
  InferFromVolumeFailurePolicyValues,
);

/** The instancetype that defines a VM's size. */
export interface InstancetypeMatcher {
  /** Volume whose labels name the instancetype. */
  inferFromVolume?: string;
  inferFromVolumeFailurePolicy?: InferFromVolumeFailurePolicy;
  /** `VirtualMachineClusterInstancetype` if absent. */
  kind?: string;
  name?: string;
  /** The stored copy in use; filled in by the controller. */
  revisionName?: string;
}

export const InstancetypeMatcherSchema: Schema<InstancetypeMatcher> = object<InstancetypeMatcher>({
  inferFromVolume: string,
  inferFromVolumeFailurePolicy: InferFromVolumeFailurePolicySchema,
  kind: string,
  name: string,
  revisionName: string,
});

/** The preference that defines a VM's defaults. */
export interface PreferenceMatcher {
  /** Volume whose labels name the preference. */
  inferFromVolume?: string;
  inferFromVolumeFailurePolicy?: InferFromVolumeFailurePolicy;
  /** `VirtualMachineClusterPreference` if absent. */
  kind?: string;
  name?: string;
  /** The stored copy in use; filled in by the controller. */
  revisionName?: string;
}

export const PreferenceMatcherSchema: Schema<PreferenceMatcher> = object<PreferenceMatcher>({
  inferFromVolume: string,
  inferFromVolumeFailurePolicy: InferFromVolumeFailurePolicySchema,
  kind: string,
  name: string,
  revisionName: string,
});

/** A stored copy of an instancetype or preference. */
export interface ControllerRevisionRef {
  name?: string;
}

export const ControllerRevisionRefSchema: Schema<ControllerRevisionRef> =
  object<ControllerRevisionRef>({
    name: string,
  });

/** The instancetype or preference in use, and its stored revision. */
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
