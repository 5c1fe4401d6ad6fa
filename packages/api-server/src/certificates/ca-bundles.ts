import type { Names } from "@virtkit/api/names";
import { describeError, type Observers } from "@virtkit/api/observe";
import { at, objects } from "@virtkit/api/shape";
import { subresourceVersions } from "@virtkit/api/subresources/server";
import { isNotFound, type JsonPatchOperation, type KubeClient, type Resource } from "@virtkit/kube";
import { otherResources } from "../resources.ts";

/** The objects that must contain the CAs of the server's certificate. */
export interface BundledObjects {
  readonly mutatingWebhooks: readonly string[];
  readonly validatingWebhooks: readonly string[];
  readonly apiServices: readonly string[];
}

/** The names of the objects that this package creates. */
export function bundledObjects({ groups }: Pick<Names, "groups">): BundledObjects {
  return {
    mutatingWebhooks: ["virt-api-mutator"],
    validatingWebhooks: ["virt-api-validator"],
    apiServices: subresourceVersions.map((version) => `${version}.${groups.subresources}`),
  };
}

/**
 * Writes the bundle into every object that has another one; an object that does not exist is skipped. A write is
 * conditional on what was read, so that it reverts nothing. Returns how many were written.
 */
export async function keepBundles(
  client: KubeClient,
  bundle: string,
  targets: BundledObjects,
  { log }: Observers = {},
): Promise<number> {
  const value = Buffer.from(bundle).toString("base64");
  const all: readonly (readonly [Resource, string])[] = [
    ...targets.mutatingWebhooks.map((name) => [otherResources.mutatingWebhooks, name] as const),
    ...targets.validatingWebhooks.map((name) => [otherResources.validatingWebhooks, name] as const),
    ...targets.apiServices.map((name) => [otherResources.apiServices, name] as const),
  ];
  let written = 0;
  for (const [resource, name] of all) {
    try {
      const found = await client.get(resource, { name });
      const operations = bundlePatch(found, value);
      if (operations.length === 0) continue;
      await client.patch(resource, { name }, { type: "json", operations });
      written += 1;
    } catch (error) {
      if (isNotFound(error)) continue;
      log?.warn({ name, error: describeError(error) }, "a CA bundle could not be written");
    }
  }
  return written;
}

/** The patch that gives an object this bundle; empty if it already has it. */
export function bundlePatch(found: unknown, value: string): readonly JsonPatchOperation[] {
  const places = Array.isArray(at(found, "webhooks"))
    ? objects(at(found, "webhooks")).map((hook, index) => ({
        path: `/webhooks/${index}/clientConfig/caBundle`,
        now: at(hook, "clientConfig", "caBundle"),
      }))
    : [{ path: "/spec/caBundle", now: at(found, "spec", "caBundle") }];
  const stale = places.filter(({ now }) => now !== value);
  if (stale.length === 0) return [];
  const version = at(found, "metadata", "resourceVersion");
  return [
    { op: "test", path: "/metadata/resourceVersion", value: version },
    ...stale.map(({ path }) => ({ op: "add", path, value }) as const),
  ];
}
