import assert from "node:assert/strict";
import { defineResource, type Resource } from "@virtkit/kube";
import type { AnyObject } from "../kind.ts";
import {
  configMaps,
  idlePod,
  named,
  pods,
  refusal,
  refused,
  type ServerCheck,
  widgets,
} from "./server-check.ts";

const budgets: Resource<AnyObject> = defineResource({
  ...{
    group: "policy",
    version: "v1",
    plural: "poddisruptionbudgets",
    kind: "PodDisruptionBudget",
  },
});
const group = "authorization.k8s.io";
const reviews: Resource<AnyObject> = defineResource({
  ...{ group, version: "v1", plural: "subjectaccessreviews", kind: "SubjectAccessReview" },
  namespaced: false,
});

/** Propagation, preconditions, disruption budgets, access reviews, and versions that do not exist yet. */
export const policyChecks: readonly ServerCheck[] = [
  {
    name: "a foreground deletion, or one that orphans dependents, waits for the garbage collector",
    async check(context) {
      const { client, namespace } = context;
      for (const [resource, name, policy, finalizer] of [
        [configMaps, "a", "Foreground", "foregroundDeletion"],
        [configMaps, "b", "Orphan", "orphan"],
        [widgets, "c", "Foreground", "foregroundDeletion"],
        [widgets, "d", "Orphan", "orphan"],
      ] as const) {
        await client.create(resource, named(context, name, { spec: { size: 1 } }));
        await client.delete(resource, { namespace, name }, { propagationPolicy: policy });
        const { metadata } = await client.get(resource, { namespace, name });
        assert.ok(metadata.deletionTimestamp);
        assert.deepEqual(metadata.finalizers, [finalizer]);
        const body = { metadata: { finalizers: null } };
        await client.patch(resource, { namespace, name }, { type: "merge", body });
        await refused(client.get(resource, { namespace, name }), 404, "NotFound");
      }
    },
  },
  {
    name: "a deletion applies only to the version that it names",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      const made = await client.create(configMaps, named(context, "a"));
      const { resourceVersion } = made.metadata;
      const updated = await client.update(configMaps, { ...made, data: { x: "1" } });
      const stale = client.delete(configMaps, at, { preconditions: { resourceVersion } });
      await refused(stale, 409, "Conflict");
      const { resourceVersion: present, uid } = updated.metadata;
      await client.delete(configMaps, at, { preconditions: { resourceVersion: present, uid } });
    },
  },
  {
    name: "a dry run of a deletion or a patch changes nothing",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      const made = await client.create(configMaps, named(context, "a", { data: { x: "1" } }));
      await client.delete(configMaps, at, { dryRun: true });
      const patch = { type: "merge", body: { data: { x: "2" } } } as const;
      const shown = await client.patch(configMaps, at, patch, { dryRun: true });
      assert.deepEqual(shown.data, { x: "2" });
      const { metadata, data } = await client.get(configMaps, at);
      assert.deepEqual(
        [metadata.resourceVersion, data],
        [made.metadata.resourceVersion, { x: "1" }],
      );
    },
  },
  {
    name: "an eviction that a budget forbids is answered with 429, with the budget as its cause",
    async check(context) {
      const { client, namespace } = context;
      const labels = { app: "demo" };
      await client.create(pods, idlePod(context, "p", { metadata: { labels } }));
      const target = { apiVersion: "v1", kind: "Node", name: "none" };
      const binding = { metadata: { namespace, name: "p" }, target } as unknown as AnyObject;
      await client.create(pods, binding, { subresource: "binding" });
      const running = { type: "merge", body: { status: { phase: "Running" } } } as const;
      await client.patch(pods, { namespace, name: "p" }, running, { subresource: "status" });
      const spec = { minAvailable: 1, selector: { matchLabels: labels } };
      await client.create(budgets, named(context, "b", { spec }));
      const eviction = { metadata: { namespace, name: "p" } };
      const evict = () => client.create(pods, eviction, { subresource: "eviction" });
      const error = await refusal(evict());
      assert.deepEqual([error.status, error.reason], [429, "TooManyRequests"]);
      assert.equal(error.causes[0]?.reason, "DisruptionBudget");
      const status = {
        ...{ observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2 },
        ...{ desiredHealthy: 1, expectedPods: 2 },
      };
      const patch = { type: "merge", body: { status } } as const;
      await client.patch(budgets, { namespace, name: "b" }, patch, { subresource: "status" });
      await evict();
      const { metadata } = await client.get(pods, { namespace, name: "p" });
      assert.ok(metadata.deletionTimestamp);
      await client.delete(pods, { namespace, name: "p" }, { gracePeriodSeconds: 0 });
    },
  },
  {
    name: "an access review is answered at once, and cannot be read",
    async check({ client, namespace }) {
      const resourceAttributes = { namespace, verb: "get", resource: "configmaps", name: "a" };
      const spec = { user: "somebody", groups: ["system:masters"], resourceAttributes };
      const asked = await client.create(reviews, { metadata: {}, spec });
      assert.equal(typeof Object(asked.status)["allowed"], "boolean");
      assert.equal((await refusal(client.get(reviews, { name: "a" }))).status, 404);
      await refused(client.list(reviews), 405, "MethodNotAllowed");
    },
  },
  {
    name: "a list of a version that does not exist yet is answered with a timeout that says so",
    async check({ client, namespace }) {
      const { resourceVersion } = (await client.list(configMaps, { namespace })).metadata;
      const far = String(Number(resourceVersion) + 1_000_000_000);
      const options = { namespace, resourceVersion: far, resourceVersionMatch: "NotOlderThan" };
      const error = await refusal(client.list(configMaps, options as never));
      assert.deepEqual([error.status, error.reason], [504, "Timeout"]);
      assert.equal(error.causes[0]?.reason, "ResourceVersionTooLarge");
    },
  },
  {
    name: "one of many creates with the same name wins, and one of many updates of the same version",
    async check(context) {
      const { client } = context;
      const many = Array.from({ length: 5 }, (_, index) => index);
      const creates = await Promise.allSettled(
        many.map((n) => client.create(configMaps, named(context, "a", { data: { n: `${n}` } }))),
      );
      const made = creates.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      assert.equal(made.length, 1);
      const [first] = made;
      const updates = await Promise.allSettled(
        many.map((n) => client.update(configMaps, { ...first, data: { m: `${n}` } } as AnyObject)),
      );
      assert.equal(updates.filter(({ status }) => status === "fulfilled").length, 1);
    },
  },
];
