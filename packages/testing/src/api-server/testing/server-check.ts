import assert from "node:assert/strict";
import {
  defineResource,
  isKubeError,
  type KubeClient,
  type KubeError,
  type KubeObject,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from "@virtkit/kube";
import type { AnyObject } from "../kind.ts";

/** What a check works with. */
export interface CheckContext {
  readonly client: KubeClient;
  /** A namespace that only this check uses. */
  readonly namespace: string;
}

/** One thing that our code relies on. It must hold for the in-process server and for a real one. */
export interface ServerCheck {
  readonly name: string;
  readonly check: (context: CheckContext) => Promise<void>;
}

export const configMaps: Resource<AnyObject & { data?: Record<string, string> }> = defineResource({
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
});
export const pods: Resource<AnyObject> = defineResource({
  version: "v1",
  plural: "pods",
  kind: "Pod",
});
export const leases: Resource<AnyObject> = defineResource({
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
});
export const namespaces: Resource<AnyObject> = defineResource({
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
});
export const widgets: Resource<AnyObject> = defineResource({
  group: "testing.virtkit.dev",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
});
export const definitions: Resource<AnyObject> = defineResource({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});

/** A kind with a schema, defaults and a separate status. */
export const widgetDefinition: AnyObject = {
  metadata: { name: "widgets.testing.virtkit.dev" },
  spec: {
    group: "testing.virtkit.dev",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer", minimum: 1 },
                  colour: { type: "string", default: "red", enum: ["red", "blue"] },
                  port: { "x-kubernetes-int-or-string": true },
                  extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
              status: {
                type: "object",
                properties: { ready: { type: "boolean" }, note: { type: "string" } },
              },
            },
          },
        },
      },
    ],
  },
};

/** An object of a resource in the namespace of a check. */
export function named(context: CheckContext, name: string, rest: object = {}): AnyObject {
  const { metadata, ...others } = rest as { metadata?: object };
  return { metadata: { namespace: context.namespace, name, ...metadata }, ...others };
}

/** A Pod that no scheduler handles. */
export function idlePod(context: CheckContext, name: string, rest: object = {}): AnyObject {
  const spec = {
    schedulerName: "nobody",
    containers: [{ name: "main", image: "none" }],
    ...(rest as { spec?: object }).spec,
  };
  return named(context, name, { ...rest, spec });
}

/** The error with which a request is refused. */
export async function refusal(request: Promise<unknown>): Promise<KubeError> {
  try {
    await request;
  } catch (error) {
    if (isKubeError(error)) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: "the request was not refused" });
}

/** Asserts how a request is refused. */
export async function refused(
  request: Promise<unknown>,
  status: number,
  reason: string,
): Promise<void> {
  const error = await refusal(request);
  assert.deepEqual([error.status, error.reason], [status, reason], error.message);
}

/** The first events of a watch, this many, without bookmarks. */
export async function firstEvents<T extends KubeObject>(
  { client, namespace }: CheckContext,
  resource: Resource<T>,
  count: number,
  options: WatchOptions,
): Promise<WatchEvent<T>[]> {
  const events: WatchEvent<T>[] = [];
  const stop = new AbortController();
  // A guard against hanging: what is awaited has happened before, or follows at once.
  const timeout = AbortSignal.timeout(30_000);
  const signal = AbortSignal.any([stop.signal, timeout]);
  for await (const event of client.watch(resource, { namespace, ...options, signal })) {
    if (event.type !== "BOOKMARK") events.push(event);
    if (events.length === count) break;
  }
  stop.abort();
  assert.equal(events.length, count, `the watch ended after ${events.length} events`);
  return events;
}

/** A watch's events in short: `ADDED a`. */
export function told(events: readonly WatchEvent<KubeObject>[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`);
}
