import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { map, type OpenEnum, object, openEnum, required, type Schema } from "../schema.ts";

/** Requests and limits of a container. */
export interface ResourceRequirementsWithoutClaims {
  limits?: Record<string, QuantityInput>;
  requests?: Record<string, QuantityInput>;
}

export const ResourceRequirementsWithoutClaimsSchema: Schema<ResourceRequirementsWithoutClaims> =
  object<ResourceRequirementsWithoutClaims>({
    limits: map(QuantityInputSchema),
    requests: map(QuantityInputSchema),
  });

/** Which helper container is meant. */
export type SupportContainerType = OpenEnum<typeof SupportContainerTypeValues>;
export const SupportContainerTypeValues = [
  "hotplug-disk",
  "container-disk",
  "virtiofs",
  "sidecar",
  "vmexport",
  "guest-console-log",
] as const;
export const SupportContainerTypeSchema: Schema<SupportContainerType> = openEnum(
  SupportContainerTypeValues,
);

/** Resources of the helper containers beside the guest. */
export interface SupportContainerResources {
  resources: ResourceRequirementsWithoutClaims;
  type: SupportContainerType;
}

export const SupportContainerResourcesSchema: Schema<SupportContainerResources> =
  object<SupportContainerResources>({
    resources: required(ResourceRequirementsWithoutClaimsSchema),
    type: required(SupportContainerTypeSchema),
  });
