import { at } from "@virtkit/api/shape";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
} from "@virtkit/kube";
import { otherResources } from "../resources.ts";

/** Where a bundle is published. */
export interface BundlePlace {
  readonly namespace: string;
  /** Of the ConfigMap. */
  readonly name: string;
  readonly field: string;
}

/**
 * Writes the trusted authorities into a ConfigMap, if it says something else. The object is read before the
 * bundle is: a replica that lags behind takes nothing back that another has written meanwhile.
 *
 * @returns whether it was written; also false if another replica was faster and its bundle is as new
 */
export async function publishBundle(
  client: KubeClient,
  { namespace, name, field }: BundlePlace,
  bundle: () => Promise<string>,
): Promise<boolean> {
  const found = await client
    .get(otherResources.configMaps, { namespace, name })
    .catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  const value = await bundle();
  if (at(found, "data", field) === value) return false;
  const metadata = { namespace, name };
  try {
    if (found) {
      const { resourceVersion } = found.metadata;
      const object = { ...found, metadata: { ...found.metadata, resourceVersion } };
      await client.update(otherResources.configMaps, {
        ...object,
        data: { [field]: value },
      } as KubeObject);
    } else {
      await client.create(otherResources.configMaps, {
        metadata,
        data: { [field]: value },
      } as KubeObject);
    }
    return true;
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false;
    throw error;
  }
}
