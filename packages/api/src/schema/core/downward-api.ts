import { type QuantityInput, QuantityInputSchema } from "../quantity-input.ts";
import { int32, object, required, type Schema, string } from "../schema.ts";

/** A field of the Pod. */
export interface ObjectFieldSelector {
  apiVersion?: string;
  fieldPath: string;
}

export const ObjectFieldSelectorSchema: Schema<ObjectFieldSelector> = object<ObjectFieldSelector>(
  {
    apiVersion: string,
    fieldPath: required(string),
  },
  { atomic: true },
);

/** A request or limit of a container. */
export interface ResourceFieldSelector {
  containerName?: string;
  /** Unit of the resource; 1 if absent. */
  divisor?: QuantityInput;
  /** Such as `limits.cpu` or `requests.memory`. */
  resource: string;
}

export const ResourceFieldSelectorSchema: Schema<ResourceFieldSelector> =
  object<ResourceFieldSelector>(
    {
      containerName: string,
      divisor: QuantityInputSchema,
      resource: required(string),
    },
    { atomic: true },
  );

/** A file that shows a field of the Pod or a resource of a container. */
export interface DownwardAPIVolumeFile {
  fieldRef?: ObjectFieldSelector;
  /** Permission bits of the file, as a number (decimal in JSON). */
  mode?: number;
  /** Relative to the volume; no `..`. */
  path: string;
  resourceFieldRef?: ResourceFieldSelector;
}

export const DownwardAPIVolumeFileSchema: Schema<DownwardAPIVolumeFile> =
  object<DownwardAPIVolumeFile>({
    fieldRef: ObjectFieldSelectorSchema,
    mode: int32,
    path: required(string),
    resourceFieldRef: ResourceFieldSelectorSchema,
  });
