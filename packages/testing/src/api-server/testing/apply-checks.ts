import assert from "node:assert/strict";
import { defineResource, type Resource } from "@virtkit/kube";
import type { AnyObject } from "../kind.ts";
import {
  type CheckContext,
  configMaps,
  idlePod,
  named,
  pods,
  refusal,
  refused,
  type ServerCheck,
  widgets,
} from "./server-check.ts";

const deployments: Resource<AnyObject> = defineResource({
  ...{ group: "apps", version: "v1", plural: "deployments", kind: "Deployment" },
});

/** A container with so many fields that a server adds as few as possible. */
const container = (name: string, image = "one") => ({ name, image });

function workload(spec: object): object {
  const labels = { app: "demo" };
  const template = { metadata: { labels }, spec };
  return { replicas: 0, selector: { matchLabels: labels }, template };
}

async function apply(
  { client, namespace }: CheckContext,
  resource: Resource<AnyObject>,
  rest: object,
  { manager = "one", force = false } = {},
): Promise<AnyObject> {
  const { group, version, kind } = resource;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  const body = { apiVersion, kind, metadata: { namespace, name: "a" }, ...rest };
  const patch = { type: "apply", force, body } as const;
  return await client.patch(resource, { namespace, name: "a" }, patch, { fieldManager: manager });
}

/** The containers of a workload, such as `name image`. */
function containersOf(object: AnyObject): string[] {
  const { template } = Object(object.spec);
  const found = Object(Object(template).spec).containers as { name: string; image: string }[];
  return found.map(({ name, image }) => `${name} ${image}`).sort();
}

/** Server-side apply and strategic merge, as manifests are installed and kubectl patches. */
export const applyChecks: readonly ServerCheck[] = [
  {
    name: "applying the same again creates no new version; without a manager it is invalid",
    async check(context) {
      const { client, namespace } = context;
      const first = await apply(context, configMaps, { data: { x: "1" } });
      const again = await apply(context, configMaps, { data: { x: "1" } });
      assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "a" } };
      const request = client.patch(configMaps, { namespace, name: "a" }, { type: "apply", body });
      await refused(request, 422, "Invalid");
    },
  },
  {
    name: "containers that two managers apply are merged by their names",
    async check(context) {
      const spec = (...containers: object[]) => ({ spec: workload({ containers }) });
      await apply(context, deployments, spec(container("a")));
      const joined = await apply(context, deployments, spec(container("b")), { manager: "two" });
      assert.deepEqual(containersOf(joined), ["a one", "b one"]);
      const changed = await apply(context, deployments, spec(container("a", "two")));
      assert.deepEqual(containersOf(changed), ["a two", "b one"]);
      const other = apply(context, deployments, spec(container("a", "three")), { manager: "two" });
      const error = await refusal(other);
      assert.deepEqual([error.status, error.reason], [409, "Conflict"]);
      const field = '.spec.template.spec.containers[name="a"].image';
      assert.deepEqual(
        error.causes.map((cause) => cause.field),
        [field],
      );
    },
  },
  {
    name: "a container that its only manager leaves out is gone",
    async check(context) {
      const spec = (...containers: object[]) => ({ spec: workload({ containers }) });
      await apply(context, deployments, spec(container("a"), container("b")));
      const less = await apply(context, deployments, spec(container("b")));
      assert.deepEqual(containersOf(less), ["b one"]);
    },
  },
  {
    name: "lists of a custom resource are applied as a whole",
    async check(context) {
      const spec = (list: object[]) => ({ spec: { size: 1, extra: { list } } });
      await apply(context, widgets, spec([{ name: "a" }, { name: "b" }]));
      const made = await apply(context, widgets, spec([{ name: "b" }]));
      assert.deepEqual(Object(made.spec)["extra"], { list: [{ name: "b" }] });
    },
  },
  {
    name: "applying ignores the status, and keeps labels that others have set",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      await apply(context, widgets, { spec: { size: 1 } });
      const body = { metadata: { labels: { theirs: "1" } } };
      await client.patch(widgets, at, { type: "merge", body });
      const ready = { status: { ready: true } };
      await client.patch(widgets, at, { type: "merge", body: ready }, { subresource: "status" });
      const made = await apply(context, widgets, { spec: { size: 2 }, status: { ready: false } });
      assert.deepEqual([made.metadata.labels, made.status], [{ theirs: "1" }, { ready: true }]);
    },
  },
  {
    name: "a strategic patch merges containers by name, removes one, and replaces other lists",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      const containers = [container("a"), { ...container("b"), args: ["x", "y"] }];
      await client.create(deployments, named(context, "a", { spec: workload({ containers }) }));
      const patch = (...items: object[]) => ({
        type: "strategic" as const,
        body: { spec: { template: { spec: { containers: items } } } },
      });
      const changed = await client.patch(
        deployments,
        at,
        patch({ name: "b", image: "two", args: ["z"] }),
      );
      assert.deepEqual(containersOf(changed), ["a one", "b two"]);
      assert.match(JSON.stringify(changed.spec), /"args":\["z"\]/);
      const less = await client.patch(deployments, at, patch({ name: "a", $patch: "delete" }));
      assert.deepEqual(containersOf(less), ["b two"]);
    },
  },
  {
    name: "a strategic patch joins finalizers, and a merge patch replaces them",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "p" };
      const metadata = { finalizers: ["virtkit.dev/one"] };
      await client.create(pods, idlePod(context, "p", { metadata }));
      const body = { metadata: { finalizers: ["virtkit.dev/two"] } };
      const joined = await client.patch(pods, at, { type: "strategic", body });
      assert.deepEqual(joined.metadata.finalizers?.toSorted(), [
        "virtkit.dev/one",
        "virtkit.dev/two",
      ]);
      const replaced = await client.patch(pods, at, { type: "merge", body });
      assert.deepEqual(replaced.metadata.finalizers, ["virtkit.dev/two"]);
      await client.patch(pods, at, { type: "merge", body: { metadata: { finalizers: null } } });
    },
  },
  {
    name: "a merge patch that names another UID is invalid, and one with an older version is a conflict",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      const { resourceVersion } = (await client.create(configMaps, named(context, "a"))).metadata;
      const uid = "00000000-0000-4000-8000-000000000000";
      const patch = (metadata: object) =>
        client.patch(configMaps, at, { type: "merge", body: { metadata, data: { x: "1" } } });
      const error = await refusal(patch({ uid }));
      assert.deepEqual([error.status, error.reason], [422, "Invalid"]);
      assert.equal(error.causes[0]?.field, "metadata.uid");
      await refused(patch({ uid, resourceVersion }), 422, "Invalid");
      await patch({ resourceVersion });
      await refused(patch({ uid, resourceVersion }), 409, "Conflict");
    },
  },
];
