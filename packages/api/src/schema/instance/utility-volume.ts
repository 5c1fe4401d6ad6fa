import {
  boolean,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";

/** The purpose of a utility volume. */
export type UtilityVolumeType = OpenEnum<typeof UtilityVolumeTypeValues>;
export const UtilityVolumeTypeValues = ["MemoryDump", "Backup"] as const;
export const UtilityVolumeTypeSchema: Schema<UtilityVolumeType> = openEnum(UtilityVolumeTypeValues);

/** A claim that is attached to the Pod for a tool and stays hidden from the guest. */
export interface UtilityVolume {
  /** A claim in the VMI's namespace. */
  claimName: string;
  name: string;
  readOnly?: boolean;
  type?: UtilityVolumeType;
}

export const UtilityVolumeSchema: Schema<UtilityVolume> = object<UtilityVolume>({
  claimName: required(string),
  name: required(string),
  readOnly: boolean,
  type: UtilityVolumeTypeSchema,
});
