import type { Names } from "@virtkit/api/names";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { Write } from "@virtkit/api/status";
import type { Refusal } from "@virtkit/api/subresources";
import {
  type PlannedWrites,
  type WriteFailure,
  writeRefusal,
} from "@virtkit/api/subresources/server";
import {
  isKubeError,
  type JsonPatchOperation,
  type KubeClient,
  type KubeObject,
  type Resource,
} from "@virtkit/kube";
import { serverResources } from "../resources.ts";

/** What became of planned writes. */
export type WritesOutcome =
  | { readonly kind: "done" }
  /** A test failed because somebody else was faster; it may succeed after another read. */
  | { readonly kind: "overtaken"; readonly refusal: Refusal }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Carries out the writes in order. If a later one fails, the first is undone if possible. */
export async function carryOutWrites(
  { writes, undo }: PlannedWrites,
  namespace: string,
  options: Observers & {
    readonly client: KubeClient;
    readonly names: Names;
    readonly signal: AbortSignal;
  },
): Promise<WritesOutcome> {
  for (const [index, write] of writes.entries()) {
    try {
      await carryOut(write, namespace, options);
    } catch (error) {
      if (index > 0 && undo) await takenBack(undo, namespace, options);
      const failure = failureOf(error);
      const refusal = writeRefusal(write, failure);
      // A write that was undone, or was the first, has left nothing: the request may be planned again.
      const isClean = index === 0 || undo !== undefined;
      return { kind: failure.kind === "test-failed" && isClean ? "overtaken" : "refused", refusal };
    }
  }
  return { kind: "done" };
}

async function takenBack(
  undo: Write,
  namespace: string,
  options: Parameters<typeof carryOutWrites>[2],
): Promise<void> {
  try {
    await carryOut(undo, namespace, options);
  } catch (error) {
    options.log?.warn({ error: describeError(error) }, "a write could not be undone");
  }
}

async function carryOut(
  write: Write,
  namespace: string,
  { client, names, signal }: Parameters<typeof carryOutWrites>[2],
): Promise<void> {
  const resource = (serverResources(names) as unknown as Readonly<Record<string, Resource>>)[
    write.resource
  ];
  if (!resource) throw new Error(`${write.resource} is not written here`);
  if (write.kind === "create") {
    const { metadata } = write.object as { metadata?: object };
    const object = { ...write.object, metadata: { ...metadata, namespace } };
    await client.create(resource, object as KubeObject, { dryRun: write.dryRun, signal });
  } else if (write.kind === "patch") {
    const operations = write.patch as readonly JsonPatchOperation[];
    const { subresource, dryRun } = write;
    const patch = { type: "json", operations } as const;
    await client.patch(resource, { namespace, name: write.name }, patch, {
      subresource,
      dryRun,
      signal,
    });
  } else {
    throw new Error(`${write.kind} is not planned for requests`);
  }
}

/** The API server names no cause if a test of a patch fails, but does if it rejects an object. */
function failureOf(error: unknown): WriteFailure {
  const message = isKubeError(error) ? error.message : describeError(error);
  if (!isKubeError(error)) return { kind: "other", message };
  if (error.status === 409) return { kind: "test-failed", message };
  if (error.status === 422) {
    return error.causes.length === 0
      ? { kind: "test-failed", message: "it changed at the same moment; try again" }
      : { kind: "invalid", message };
  }
  return { kind: error.status === 400 ? "invalid" : "other", message };
}
