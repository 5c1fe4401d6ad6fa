import assert from "node:assert/strict";
import {
  configMaps,
  idlePod,
  leases,
  named,
  pods,
  refusal,
  refused,
  type ServerCheck,
} from "./server-check.ts";

/** Creates, updates and patches. */
export const writeChecks: readonly ServerCheck[] = [
  {
    name: "create fills in what only the server knows",
    async check(context) {
      const made = await context.client.create(
        configMaps,
        named(context, "a", { data: { x: "1" } }),
      );
      const { uid, resourceVersion, creationTimestamp, namespace } = made.metadata;
      assert.ok(uid && resourceVersion && creationTimestamp);
      assert.equal(namespace, context.namespace);
      assert.deepEqual(
        await context.client.get(configMaps, { namespace, name: "a" }).then((o) => o.data),
        { x: "1" },
      );
    },
  },
  {
    name: "create refuses a name that is taken",
    async check(context) {
      await context.client.create(configMaps, named(context, "a"));
      await refused(context.client.create(configMaps, named(context, "a")), 409, "AlreadyExists");
    },
  },
  {
    name: "create generates a name from generateName",
    async check(context) {
      const { namespace } = context;
      const made = await context.client.create(configMaps, {
        metadata: { namespace, generateName: "g-" },
      });
      assert.match(made.metadata.name ?? "", /^g-[a-z0-9]{5}$/);
    },
  },
  {
    name: "create refuses an invalid name, with its field",
    async check(context) {
      const error = await refusal(context.client.create(configMaps, named(context, "Not_A_Name")));
      assert.deepEqual([error.status, error.reason], [422, "Invalid"]);
      assert.equal(error.causes[0]?.field, "metadata.name");
    },
  },
  {
    name: "create in a missing namespace is not found",
    async check({ client }) {
      const object = { metadata: { namespace: "virtkit-no-such", name: "a" } };
      await refused(client.create(configMaps, object), 404, "NotFound");
    },
  },
  {
    name: "get of a missing object is not found",
    async check({ client, namespace }) {
      await refused(client.get(configMaps, { namespace, name: "none" }), 404, "NotFound");
    },
  },
  {
    name: "a dry run stores nothing",
    async check(context) {
      const { client, namespace } = context;
      const made = await client.create(configMaps, named(context, "a"), { dryRun: true });
      assert.ok(made.metadata.uid);
      await refused(client.get(configMaps, { namespace, name: "a" }), 404, "NotFound");
    },
  },
  {
    name: "update with an older version is a conflict",
    async check(context) {
      const made = await context.client.create(configMaps, named(context, "a"));
      await context.client.update(configMaps, { ...made, data: { x: "1" } });
      await refused(
        context.client.update(configMaps, { ...made, data: { x: "2" } }),
        409,
        "Conflict",
      );
    },
  },
  {
    name: "update without a version overwrites, except for leases, where it is refused",
    async check(context) {
      const { client } = context;
      await client.create(configMaps, named(context, "a", { data: { x: "1" } }));
      const updated = await client.update(configMaps, named(context, "a", { data: { y: "2" } }));
      assert.deepEqual(Object(updated).data, { y: "2" });
      await client.create(leases, named(context, "l", { spec: { holderIdentity: "one" } }));
      await refused(client.update(leases, named(context, "l", { spec: {} })), 422, "Invalid");
    },
  },
  {
    name: "update of another object under the same name is a conflict",
    async check(context) {
      const made = await context.client.create(configMaps, named(context, "a"));
      const { resourceVersion: _, ...metadata } = made.metadata;
      const uid = "00000000-0000-4000-8000-000000000000";
      const other = { ...made, metadata: { ...metadata, uid }, data: { x: "1" } };
      await refused(context.client.update(configMaps, other), 409, "Conflict");
    },
  },
  {
    name: "update of a missing object is not found",
    async check(context) {
      await refused(context.client.update(configMaps, named(context, "none")), 404, "NotFound");
    },
  },
  {
    name: "a write that changes nothing creates no new version",
    async check(context) {
      const { client, namespace } = context;
      const made = await client.create(configMaps, named(context, "a", { data: { x: "1" } }));
      const updated = await client.update(configMaps, made);
      assert.equal(updated.metadata.resourceVersion, made.metadata.resourceVersion);
      const body = { data: { x: "1" } };
      const patched = await client.patch(
        configMaps,
        { namespace, name: "a" },
        { type: "merge", body },
      );
      assert.equal(patched.metadata.resourceVersion, made.metadata.resourceVersion);
    },
  },
  {
    name: "a JSON patch is applied as a whole, or not at all if its test fails",
    async check(context) {
      const { client, namespace } = context;
      await client.create(configMaps, named(context, "a", { data: { x: "1" } }));
      const at = { namespace, name: "a" };
      const operations = (found: string) =>
        [
          { op: "test", path: "/data/x", value: found },
          { op: "replace", path: "/data/x", value: "2" },
          { op: "add", path: "/metadata/labels", value: { "a/b": "c" } },
        ] as const;
      const stale = client.patch(configMaps, at, { type: "json", operations: operations("0") });
      const { status, reason, causes } = await refusal(stale);
      // What is wrong with the object itself is reported by field.
      assert.deepEqual([status, reason, causes], [422, "Invalid", []]);
      const patched = await client.patch(configMaps, at, {
        type: "json",
        operations: operations("1"),
      });
      assert.deepEqual([patched.data, patched.metadata.labels], [{ x: "2" }, { "a/b": "c" }]);
      const escaped = [{ op: "replace", path: "/metadata/labels/a~1b", value: "d" }] as const;
      const again = await client.patch(configMaps, at, { type: "json", operations: escaped });
      assert.deepEqual(again.metadata.labels, { "a/b": "d" });
    },
  },
  {
    name: "a JSON patch tests for absence with null, and cannot remove a missing value",
    async check(context) {
      const { client, namespace } = context;
      await client.create(configMaps, named(context, "a"));
      const at = { namespace, name: "a" };
      const absent = [
        { op: "test", path: "/data", value: null },
        { op: "add", path: "/data", value: { x: "1" } },
      ] as const;
      assert.deepEqual(
        (await client.patch(configMaps, at, { type: "json", operations: absent })).data,
        { x: "1" },
      );
      await refused(
        client.patch(configMaps, at, { type: "json", operations: absent }),
        422,
        "Invalid",
      );
      const operations = [{ op: "remove", path: "/data/none" }] as const;
      await refused(client.patch(configMaps, at, { type: "json", operations }), 422, "Invalid");
    },
  },
  {
    name: "a merge patch merges objects, removes with null, and applies only to a version that it names",
    async check(context) {
      const { client, namespace } = context;
      const made = await client.create(
        configMaps,
        named(context, "a", { data: { x: "1", y: "2" } }),
      );
      const at = { namespace, name: "a" };
      const body = { data: { x: null, z: "3" } };
      const patched = await client.patch(configMaps, at, { type: "merge", body });
      assert.deepEqual(patched.data, { y: "2", z: "3" });
      const { resourceVersion } = made.metadata;
      const stale = { metadata: { resourceVersion }, data: { y: null } };
      await refused(client.patch(configMaps, at, { type: "merge", body: stale }), 409, "Conflict");
    },
  },
  {
    name: "a patch of a missing object is not found",
    async check({ client, namespace }) {
      const patch = { type: "merge", body: {} } as const;
      await refused(client.patch(configMaps, { namespace, name: "none" }, patch), 404, "NotFound");
    },
  },
  {
    name: "a strategic patch merges conditions by their type",
    async check(context) {
      const { client, namespace } = context;
      await client.create(pods, idlePod(context, "p"));
      const condition = (type: string, status: string) => ({
        type: "strategic" as const,
        body: { status: { conditions: [{ type, status }] } },
      });
      const at = { namespace, name: "p" };
      const status = { subresource: "status" };
      await client.patch(pods, at, condition("virtkit.dev/a", "True"), status);
      await client.patch(pods, at, condition("virtkit.dev/b", "True"), status);
      const patched = await client.patch(pods, at, condition("virtkit.dev/a", "False"), status);
      const found = Object(patched.status)["conditions"] as { type: string; status: string }[];
      const told = found.map((each) => `${each.type} ${each.status}`).sort();
      assert.deepEqual(told, ["virtkit.dev/a False", "virtkit.dev/b True"]);
    },
  },
  {
    name: "applying creates, changes what is sent and drops what is no longer sent",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "a" };
      const apply = (data: object, fieldManager: string, force = false) =>
        client.patch(
          configMaps,
          at,
          {
            type: "apply",
            force,
            body: { apiVersion: "v1", kind: "ConfigMap", metadata: at, data },
          },
          { fieldManager },
        );
      assert.deepEqual((await apply({ x: "1", y: "1" }, "one")).data, { x: "1", y: "1" });
      assert.deepEqual((await apply({ z: "1" }, "two")).data, { x: "1", y: "1", z: "1" });
      assert.deepEqual((await apply({ x: "2" }, "one")).data, { x: "2", z: "1" });
      const error = await refusal(apply({ x: "3" }, "two"));
      assert.deepEqual([error.status, error.reason], [409, "Conflict"]);
      assert.equal(error.causes[0]?.reason, "FieldManagerConflict");
      assert.deepEqual((await apply({ x: "3", z: "1" }, "two", true)).data, { x: "3", z: "1" });
    },
  },
  {
    name: "a Pod's spec cannot be changed, except for its image",
    async check(context) {
      const { client, namespace } = context;
      const made = await client.create(pods, idlePod(context, "p"));
      assert.equal(made.status?.["phase"], "Pending");
      const spec = { ...made.spec, hostname: "other" };
      await refused(client.update(pods, { ...made, spec }), 422, "Invalid");
      const operations = [
        { op: "replace", path: "/spec/containers/0/image", value: "new" },
      ] as const;
      await client.patch(pods, { namespace, name: "p" }, { type: "json", operations });
    },
  },
];
