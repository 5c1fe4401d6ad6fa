import type { KubeObject, ObjectMeta } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { expect, test } from "vitest";
import { podResource } from "../plan/resources.ts";
import { UnseenWrites } from "./unseen-writes.ts";

const name = { namespace: "ns", name: "launcher" };
const key = "ns/vm";
const deletionTimestamp = "2026-01-01T00:00:00Z";

/** A cache with a Pod at version 5, and what is left to wait for after a patch with this answer. */
async function patched(answer: Partial<ObjectMeta>) {
  const pod = (parts: Partial<ObjectMeta>): KubeObject => ({
    metadata: { ...name, uid: "pod-uid", resourceVersion: "5", ...parts },
  });
  const cache = new Cache<KubeObject, string>(podResource);
  cache.handle({ type: "init" });
  cache.handle({ type: "apply", object: pod({ finalizers: ["f"] }) });
  cache.handle({ type: "initDone" });
  const unseen = new UnseenWrites({ cacheOf: () => cache });
  const target = unseen.target(key, { write: async () => pod(answer) });
  await target.write({ kind: "patch", resource: podResource, object: name, operations: [] });
  return {
    unseen,
    see: (parts: Partial<ObjectMeta>) => cache.handle({ type: "apply", object: pod(parts) }),
    lose: () => cache.handle({ type: "delete", object: pod({}) }),
  };
}

test("a write is waited for until its version is seen", async () => {
  const { unseen, see } = await patched({ resourceVersion: "7" });
  expect(unseen.behindFor(key)).toBeGreaterThan(0);
  see({ resourceVersion: "6" });
  expect(unseen.behindFor(key)).toBeGreaterThan(0);
  see({ resourceVersion: "7" });
  expect(unseen.behindFor(key)).toBe(0);
});

test("a write that removed the last finalizer is waited for until the object is gone", async () => {
  // The API server answers with the version that it removed.
  const { unseen, see, lose } = await patched({ deletionTimestamp });
  see({ resourceVersion: "6", deletionTimestamp, finalizers: ["f"] });
  expect(unseen.behindFor(key)).toBeGreaterThan(0);
  lose();
  expect(unseen.behindFor(key)).toBe(0);
});

test("a Pod that loses its last finalizer while it still ends is not waited for", async () => {
  const { unseen } = await patched({ deletionTimestamp, deletionGracePeriodSeconds: 30 });
  expect(unseen.behindFor(key)).toBe(0);
});
