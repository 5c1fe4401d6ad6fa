import assert from "node:assert/strict";
import {
  type CheckContext,
  named,
  refusal,
  refused,
  type ServerCheck,
  widgets,
} from "./server-check.ts";

const made = (context: CheckContext, spec: object = { size: 1 }, rest: object = {}) =>
  context.client.create(widgets, named(context, "w", { spec, ...rest }));

/** Objects of a CustomResourceDefinition. The definition exists before the checks begin. */
export const customResourceChecks: readonly ServerCheck[] = [
  {
    name: "a custom resource is pruned and defaulted, and its status is ignored at creation",
    async check(context) {
      const spec = { size: 1, unknown: true, extra: { kept: true } };
      const widget = await made(context, spec, { status: { ready: true } });
      assert.deepEqual(widget.spec, { size: 1, colour: "red", extra: { kept: true } });
      assert.equal(widget.status, undefined);
      assert.equal(widget.metadata.generation, 1);
    },
  },
  {
    name: "a custom resource that violates its schema is refused, with the fields",
    async check(context) {
      const error = await refusal(made(context, { size: 0, colour: "green" }));
      assert.deepEqual([error.status, error.reason], [422, "Invalid"]);
      const fields = error.causes.map(({ field }) => field).sort();
      assert.deepEqual(fields, ["spec.colour", "spec.size"]);
      const missing = await refusal(made(context, {}));
      assert.deepEqual(
        missing.causes.map(({ field }) => field),
        ["spec.size"],
      );
      const wrong = await refusal(made(context, { size: "1" }));
      assert.equal(wrong.causes[0]?.field, "spec.size");
    },
  },
  {
    name: "the generation counts changes of the spec, not of metadata or status",
    async check(context) {
      const { client, namespace } = context;
      const widget = await made(context);
      const status = { ...widget, status: { ready: true } };
      const ready = await client.update(widgets, status, { subresource: "status" });
      assert.deepEqual([ready.metadata.generation, ready.status], [1, { ready: true }]);
      const at = { namespace, name: "w" };
      const labelled = { type: "merge", body: { metadata: { labels: { a: "b" } } } } as const;
      assert.equal((await client.patch(widgets, at, labelled)).metadata.generation, 1);
      const larger = { type: "merge", body: { spec: { size: 2 } } } as const;
      assert.equal((await client.patch(widgets, at, larger)).metadata.generation, 2);
    },
  },
  {
    name: "each endpoint accepts only its own part",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "w" };
      await made(context);
      const both = {
        type: "merge",
        body: { metadata: { labels: { a: "b" } }, spec: { size: 5 }, status: { note: "x" } },
      } as const;
      const byStatus = await client.patch(widgets, at, both, { subresource: "status" });
      assert.deepEqual([byStatus.spec?.["size"], byStatus.status], [1, { note: "x" }]);
      assert.equal(byStatus.metadata.labels, undefined);
      const other = { type: "merge", body: { spec: { size: 5 }, status: { note: "y" } } } as const;
      const byMain = await client.patch(widgets, at, other);
      assert.deepEqual([byMain.spec?.["size"], byMain.status], [5, { note: "x" }]);
    },
  },
  {
    name: "a custom resource is updated only with its version, and accepts no strategic patch",
    async check(context) {
      const { client, namespace } = context;
      await made(context);
      await refused(
        client.update(widgets, named(context, "w", { spec: { size: 2 } })),
        422,
        "Invalid",
      );
      const patch = { type: "strategic", body: { spec: { size: 2 } } } as const;
      await refused(
        client.patch(widgets, { namespace, name: "w" }, patch),
        415,
        "UnsupportedMediaType",
      );
    },
  },
  {
    name: "a deletion that a finalizer delays counts as a generation",
    async check(context) {
      const { client, namespace } = context;
      const at = { namespace, name: "w" };
      await made(context, { size: 1 }, { metadata: { finalizers: ["virtkit.dev/one"] } });
      await client.delete(widgets, at);
      assert.equal((await client.get(widgets, at)).metadata.generation, 2);
      await client.patch(widgets, at, { type: "merge", body: { metadata: { finalizers: null } } });
      await refused(client.get(widgets, at), 404, "NotFound");
    },
  },
];
