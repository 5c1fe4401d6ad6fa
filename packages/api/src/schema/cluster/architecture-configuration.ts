import { array, object, type Schema, string } from "../schema.ts";

/** Settings of one architecture. */
export interface ArchSpecificConfiguration {
  /** Patterns of machine types that are allowed. */
  emulatedMachines?: string[];
  machineType?: string;
  /** Where the EFI images are. */
  ovmfPath?: string;
}

export const ArchSpecificConfigurationSchema: Schema<ArchSpecificConfiguration> =
  object<ArchSpecificConfiguration>({
    emulatedMachines: array(string, { listType: "atomic" }),
    machineType: string,
    ovmfPath: string,
  });

/** Settings per processor architecture. */
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
