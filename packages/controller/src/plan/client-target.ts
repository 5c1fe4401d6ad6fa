import type { Names } from "@virtkit/api/names";
import {
  apiVersionOf,
  isNotFound,
  type KubeClient,
  KubeError,
  type KubeObject,
  type RequestOptions,
} from "@virtkit/kube";
import type { PlanTarget } from "./carry-out.ts";
import { type GuestInPod, whyPodStays } from "./guest-in-pod.ts";
import type { PlannedWrite } from "./plan.ts";
import { vmiResource } from "./resources.ts";

/** The methods of a client that {@link clientTarget} needs. */
export type PlanClient = Pick<KubeClient, "create" | "delete" | "get" | "patch" | "request">;

/** Options of {@link clientTarget}. */
export interface ClientTargetOptions {
  readonly names: Names;
}

/** Carries out plans on an API server. */
export function clientTarget(client: PlanClient, { names }: ClientTargetOptions): PlanTarget {
  return {
    write: async (write, { signal } = {}): Promise<KubeObject | undefined> => {
      switch (write.kind) {
        case "create":
          if (write.guest) await requireGuest(client, write.guest, { names, signal });
          return client.create(write.resource, write.object, {
            subresource: write.subresource,
            signal,
          });
        case "patch":
          return client.patch(
            write.resource,
            write.object,
            { type: "json", operations: write.operations },
            { subresource: write.subresource, signal },
          );
        case "delete":
          await client.delete(write.resource, write.object, {
            gracePeriodSeconds: write.gracePeriodSeconds,
            propagationPolicy: write.propagationPolicy,
            preconditions: { uid: write.uid },
            signal,
          });
          return undefined;
        case "call":
          await client.request({
            method: "PUT",
            path: subresourcePath(write, names.groups.subresources),
            body: write.body,
            signal,
          });
          return undefined;
      }
    },
  };
}

/** Fails as a precondition of the API server does. */
async function requireGuest(
  client: PlanClient,
  guest: GuestInPod,
  { names, signal }: ClientTargetOptions & RequestOptions,
): Promise<void> {
  const vmi = await client
    .get(vmiResource(names), guest.vmi, { signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  const reason = whyPodStays(vmi, guest, names);
  if (reason === undefined) return;
  throw new KubeError("KUBE_STATUS", reason, { status: 409, reason: "Conflict" });
}

function subresourcePath(
  { resource, object, subresource }: Extract<PlannedWrite, { kind: "call" }>,
  group: string,
): string {
  const version = apiVersionOf({ ...resource, group });
  const { namespace = "", name } = object;
  const parts = ["namespaces", namespace, resource.plural, name, subresource];
  return `/apis/${version}/${parts.map(encodeURIComponent).join("/")}`;
}
