import { apiVersionOf, type KubeClient, type KubeObject } from "@virtkit/kube";
import type { PlanTarget } from "./carry-out.ts";
import type { PlannedWrite } from "./plan.ts";

/** The methods of a client that {@link clientTarget} needs. */
export type PlanClient = Pick<KubeClient, "create" | "delete" | "patch" | "request">;

/** Options of {@link clientTarget}. */
export interface ClientTargetOptions {
  /** The API group of the subresources that a `call` goes to, as `names().groups.subresources`. */
  readonly subresources: string;
}

/** Carries out plans on an API server. */
export function clientTarget(
  client: PlanClient,
  { subresources }: ClientTargetOptions,
): PlanTarget {
  return {
    write: async (write, { signal } = {}): Promise<KubeObject | undefined> => {
      switch (write.kind) {
        case "create":
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
            preconditions: { uid: write.uid },
            signal,
          });
          return undefined;
        case "call":
          await client.request({
            method: "PUT",
            path: subresourcePath(write, subresources),
            body: write.body,
            signal,
          });
          return undefined;
      }
    },
  };
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
