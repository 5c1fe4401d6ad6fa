import { boolean, map, type OpenEnum, object, openEnum, type Schema, string } from "../schema.ts";
import {
  type ResourceRequirementsWithoutClaims,
  ResourceRequirementsWithoutClaimsSchema,
} from "./component-resources.ts";

/** What happens to an interface after the guest has moved. */
export type MigrationMethod = OpenEnum<typeof MigrationMethodValues>;
export const MigrationMethodValues = ["link-refresh"] as const;
export const MigrationMethodSchema: Schema<MigrationMethod> = openEnum(MigrationMethodValues);

/** How a plugin's interfaces survive a live migration. */
export interface InterfaceBindingMigration {
  method?: MigrationMethod;
}

export const InterfaceBindingMigrationSchema: Schema<InterfaceBindingMigration> =
  object<InterfaceBindingMigration>({
    method: MigrationMethodSchema,
  });

/** How a plugin's interface is attached to the guest. */
export type DomainAttachmentType = OpenEnum<typeof DomainAttachmentTypeValues>;
export const DomainAttachmentTypeValues = ["tap", "managedTap"] as const;
export const DomainAttachmentTypeSchema: Schema<DomainAttachmentType> = openEnum(
  DomainAttachmentTypeValues,
);

/** What a plugin's sidecar learns about the interface. */
export type NetworkBindingDownwardAPIType = OpenEnum<typeof NetworkBindingDownwardAPITypeValues>;
export const NetworkBindingDownwardAPITypeValues = ["device-info"] as const;
export const NetworkBindingDownwardAPITypeSchema: Schema<NetworkBindingDownwardAPIType> = openEnum(
  NetworkBindingDownwardAPITypeValues,
);

/** A network binding in addition to the built-in ones. */
export interface InterfaceBindingPlugin {
  /** Added to the launcher's container. */
  computeResourceOverhead?: ResourceRequirementsWithoutClaims;
  domainAttachmentType?: DomainAttachmentType;
  downwardAPI?: NetworkBindingDownwardAPIType;
  migration?: InterfaceBindingMigration;
  /** Added to the Pod's networks, as `name` or `namespace/name`. */
  networkAttachmentDefinition?: string;
  /** Runs beside the launcher and may change the domain. */
  sidecarImage?: string;
}

export const InterfaceBindingPluginSchema: Schema<InterfaceBindingPlugin> =
  object<InterfaceBindingPlugin>({
    computeResourceOverhead: ResourceRequirementsWithoutClaimsSchema,
    domainAttachmentType: DomainAttachmentTypeSchema,
    downwardAPI: NetworkBindingDownwardAPITypeSchema,
    migration: InterfaceBindingMigrationSchema,
    networkAttachmentDefinition: string,
    sidecarImage: string,
  });

/** What VMIs may do with networks. */
export interface NetworkConfiguration {
  /** Plugins, by name. */
  binding?: Record<string, InterfaceBindingPlugin>;
  /** `bridge`, `slirp` or `masquerade`. */
  defaultNetworkInterface?: string;
  /** On if absent. */
  permitBridgeInterfaceOnPodNetwork?: boolean;
  permitSlirpInterface?: boolean;
}

export const NetworkConfigurationSchema: Schema<NetworkConfiguration> =
  object<NetworkConfiguration>({
    binding: map(InterfaceBindingPluginSchema),
    defaultNetworkInterface: string,
    permitBridgeInterfaceOnPodNetwork: boolean,
    permitSlirpInterface: boolean,
  });
