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

/** The helper container concerned. */
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

/** Resources of the helper containers. */
export interface SupportContainerResources {
  resources: ResourceRequirementsWithoutClaims;
  type: SupportContainerType;
}

export const SupportContainerResourcesSchema: Schema<SupportContainerResources> =
  object<SupportContainerResources>({
    resources: required(ResourceRequirementsWithoutClaimsSchema),
    type: required(SupportContainerTypeSchema),
  });
