import { array, object, type Schema, string } from "../schema.ts";

/** Settings for one architecture. */
export interface ArchSpecificConfiguration {
  /** Patterns of allowed machine types. */
  emulatedMachines?: string[];
  machineType?: string;
  /** The directory of the EFI images. */
  ovmfPath?: string;
}

export const ArchSpecificConfigurationSchema: Schema<ArchSpecificConfiguration> =
  object<ArchSpecificConfiguration>({
    emulatedMachines: array(string, { listType: "atomic" }),
    machineType: string,
    ovmfPath: string,
  });

/** Settings by CPU architecture. */
export interface ArchConfiguration {
  amd64?: ArchSpecificConfiguration;
  arm64?: ArchSpecificConfiguration;
  defaultArchitecture?: string;
  ppc64le?: ArchSpecificConfiguration;
  s390x?: ArchSpecificConfiguration;
}

export const ArchConfigurationSchema: Schema<ArchConfiguration> = object<ArchConfiguration>({
  amd64: ArchSpecificConfigurationSchema,
  arm64: ArchSpecificConfigurationSchema,
  defaultArchitecture: string,
  ppc64le: ArchSpecificConfigurationSchema,
  s390x: ArchSpecificConfigurationSchema,
});
