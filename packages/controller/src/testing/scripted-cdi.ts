import { at } from "@virtkit/api/shape";
import { apiVersionOf, type KubeObject, type Resource } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { createController, watch } from "@virtkit/kube/controller";
import type { ActorContext } from "@virtkit/testing/faults";
import { isDeleting } from "../plan/ownership.ts";
import { claimResource } from "../plan/resources.ts";
import { dataVolumeResource } from "../plan/vm-resources.ts";
import {
  cdiConfigResource,
  cdiResource,
  dataSourceResource,
  storageProfileResource,
} from "../service/shared-resources.ts";

/** CDI's kinds, without their schemas. */
export const cdiDefinitions: readonly KubeObject[] = [
  dataVolumeResource,
  dataSourceResource,
  storageProfileResource,
  cdiResource,
  cdiConfigResource,
].map(definitionOf);

function definitionOf({ group, version, plural, kind, namespaced }: Resource): KubeObject {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const served = {
    name: version,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
  };
  const spec = {
    group,
    scope: namespaced ? "Namespaced" : "Cluster",
    names: { plural, singular: kind.toLowerCase(), kind },
    versions: [{ ...served, subresources: { status: {} } }],
  };
  const metadata = { name: `${plural}.${group}` };
  const apiVersion = "apiextensions.k8s.io/v1";
  return { apiVersion, kind: "CustomResourceDefinition", metadata, spec } as KubeObject;
}

/** For how long a disk is being filled, in milliseconds. */
const fillingTime = 10_000;

/**
 * What CDI does with DataVolumes, as a script: each gets a claim of its name, which is filled for a while. A
 * DataVolume that clones itself is never checked: whoever created it was permitted to.
 */
export async function runScriptedCdi(context: Omit<ActorContext, "wall">): Promise<void> {
  const { client, clock, random, signal } = context;
  const dataVolumes = new Cache<KubeObject>(dataVolumeResource);
  const begun = new Map<string, number>();
  await createController({
    ...{ name: "cdi", client, clock, random },
    watches: [watch(dataVolumes)],
    reconcile: async (name) => {
      const found = dataVolumes.get(name);
      if (found.state !== "present" || isDeleting(found.object)) return {};
      const { metadata } = found.object;
      const phase = at(found.object, "status", "phase");
      if (phase === "Succeeded") return {};
      const uid = metadata.uid ?? "";
      if (!begun.has(uid)) {
        begun.set(uid, clock.now());
        await client.create(claimResource, claimOf(found.object));
        await patchStatus(claimResource, { phase: "Bound" });
      }
      const left = (begun.get(uid) ?? 0) + fillingTime - clock.now();
      const next = left > 0 ? "ImportInProgress" : "Succeeded";
      if (next !== phase) await patchStatus(dataVolumeResource, { phase: next, progress: "50%" });
      return left > 0 ? { requeueAfter: left } : {};

      async function patchStatus(resource: Resource, status: object): Promise<void> {
        const patch = { type: "merge", body: { status } } as const;
        await client.patch(resource, name, patch, { subresource: "status" });
      }
    },
  }).run({ signal });
}

function claimOf({ metadata: { namespace = "", name = "", uid = "" } }: KubeObject): KubeObject {
  const owner = { apiVersion: apiVersionOf(dataVolumeResource), kind: dataVolumeResource.kind };
  const ownerReferences = [{ ...owner, name, uid, controller: true, blockOwnerDeletion: true }];
  const resources = { requests: { storage: "1Gi" } };
  const claim = {
    metadata: { namespace, name, ownerReferences },
    spec: { accessModes: ["ReadWriteOnce"], resources },
  };
  return claim;
}
