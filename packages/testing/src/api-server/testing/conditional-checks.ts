import assert from "node:assert/strict";
import { defineResource, type JsonPatchOperation, type Patch, type Resource } from "@virtkit/kube";
import type { AnyObject } from "../kind.ts";
import {
  type CheckContext,
  configMaps,
  firstEvents,
  idlePod,
  named,
  namespaces,
  pods,
  refusal,
  refused,
  type ServerCheck,
  told,
  widgets,
} from "./server-check.ts";

const otherUid = "00000000-0000-4000-8000-000000000000";
const budgets: Resource<AnyObject> = defineResource({
  ...{
    group: "policy",
    version: "v1",
    plural: "poddisruptionbudgets",
    kind: "PodDisruptionBudget",
  },
});
const nodes: Resource<AnyObject> = defineResource({
  ...{ version: "v1", plural: "nodes", kind: "Node", namespaced: false },
});
const absent: Resource<AnyObject> = defineResource({
  ...{ group: "testing.virtkit.dev", version: "v1", plural: "absents", kind: "Absent" },
});

/** An endpoint through which controllers write, and a value behind it. */
interface Door {
  readonly title: string;
  readonly resource: Resource<AnyObject>;
  readonly subresource?: string;
  /** Whether a merge patch that names another UID is applied all the same. */
  readonly ignoresUid?: boolean;
  readonly make: (context: CheckContext) => AnyObject;
  /** Where the value is, and values of its kind. */
  readonly path: readonly string[];
  readonly values: readonly [unknown, unknown];
}

const budgetStatus = (disruptionsAllowed: number) => ({
  ...{ observedGeneration: 1, disruptionsAllowed },
  ...{ currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
});

const doors: readonly Door[] = [
  {
    ...{ title: "ConfigMaps", resource: configMaps },
    make: (context) => named(context, "a", { data: { x: "0" } }),
    ...{ path: ["data", "x"], values: ["1", "2"] },
  },
  {
    ...{ title: "the status of disruption budgets", resource: budgets, subresource: "status" },
    make: (context) => {
      const selector = { matchLabels: { app: "demo" } };
      return named(context, "a", { spec: { minAvailable: 1, selector } });
    },
    ...{ path: ["status"], values: [budgetStatus(1), budgetStatus(2)] },
  },
  {
    ...{ title: "Pods", resource: pods },
    make: (context) => idlePod(context, "a", { metadata: { labels: { x: "0" } } }),
    ...{ path: ["metadata", "labels", "x"], values: ["1", "2"] },
  },
  {
    ...{ title: "the status of Pods", resource: pods, subresource: "status" },
    make: (context) => idlePod(context, "a"),
    ...{ path: ["status", "message"], values: ["one", "two"] },
  },
  {
    ...{ title: "custom resources", resource: widgets },
    make: (context) => named(context, "a", { spec: { size: 9 } }),
    ...{ path: ["spec", "size"], values: [1, 2] },
  },
  {
    ...{ title: "the status of custom resources", resource: widgets, subresource: "status" },
    ignoresUid: true,
    make: (context) => named(context, "a", { spec: { size: 1 } }),
    ...{ path: ["status"], values: [{ note: "one" }, { note: "two" }] },
  },
];

/** The conditional writes of controllers, through an endpoint. */
function doorCheck(door: Door): ServerCheck {
  const { title, resource, subresource, ignoresUid, make, path, values } = door;
  const [one, two] = values;
  const valueIn = (object: AnyObject) =>
    path.reduce<unknown>((value, key) => Object(value)[key], object);
  const bodyOf = (value: unknown) =>
    path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as AnyObject;
  return {
    name: `${title} are patched under tests, versions and UIDs`,
    async check(context) {
      const { client } = context;
      const write = (patch: Patch) =>
        client.patch(resource, at(context), patch, subresource ? { subresource } : {});
      const json = (value: unknown, ...tests: JsonPatchOperation[]) => {
        const change = { op: "add", path: `/${path.join("/")}`, value } as const;
        return write({ type: "json", operations: [...tests, change] });
      };
      const merge = (value: unknown, marks: object) => {
        const { metadata, ...rest } = bodyOf(value);
        return write({ type: "merge", body: { ...rest, metadata: { ...metadata, ...marks } } });
      };
      await refused(json(one), 404, "NotFound");
      await refused(merge(one, {}), 404, "NotFound");
      const { uid, resourceVersion } = (await client.create(resource, make(context))).metadata;
      const test = (field: string, value: unknown) =>
        ({ op: "test", path: `/metadata/${field}`, value }) as const;
      await refused(json(one, test("uid", otherUid)), 422, "Invalid");
      assert.deepEqual(valueIn(await json(one, test("uid", uid))), one);
      await refused(json(two, test("resourceVersion", resourceVersion)), 422, "Invalid");
      await refused(merge(two, { uid, resourceVersion }), 409, "Conflict");
      const meantAnother = merge(two, { uid: otherUid });
      if (ignoresUid) assert.deepEqual(valueIn(await meantAnother), two);
      else await refused(meantAnother, 422, "Invalid");
      assert.deepEqual(valueIn(await merge(two, { uid })), two);
      await client.delete(resource, at(context), { gracePeriodSeconds: 0 });
    },
  };
}

const at = ({ namespace }: CheckContext) => ({ namespace, name: "a" });

/** What the endpoints have in common, and reads that only some kinds have. */
export const conditionalChecks: readonly ServerCheck[] = [
  ...doors.map(doorCheck),
  {
    name: "each kind is created once, and deleted only as the object that was meant",
    async check(context) {
      const { client } = context;
      const kinds = doors.filter(({ subresource }) => subresource === undefined);
      for (const { resource, make } of kinds) {
        await refused(client.delete(resource, at(context)), 404, "NotFound");
        const { uid } = (await client.create(resource, make(context))).metadata;
        await refused(client.create(resource, make(context)), 409, "AlreadyExists");
        const remove = (meant: string | undefined) =>
          client.delete(resource, at(context), { preconditions: { uid: meant } });
        await refused(remove(otherUid), 409, "Conflict");
        await remove(uid);
        await refused(client.get(resource, at(context)), 404, "NotFound");
      }
    },
  },
  {
    name: "concurrent patches that name no version are all applied",
    async check(context) {
      const { client } = context;
      await client.create(configMaps, named(context, "a", { data: { x: "0" } }));
      const patches: readonly Patch[] = ["a", "b", "c"].flatMap((key): Patch[] => [
        { type: "merge", body: { data: { [key]: "1" } } },
        { type: "json", operations: [{ op: "add", path: "/metadata/labels", value: { own: "" } }] },
      ]);
      await Promise.all(patches.map((patch) => client.patch(configMaps, at(context), patch)));
      const { data } = await client.get(configMaps, at(context));
      assert.deepEqual(data, { x: "0", a: "1", b: "1", c: "1" });
    },
  },
  {
    name: "of concurrent patches that test one value, one wins, and the others are invalid",
    async check(context) {
      const { client } = context;
      await client.create(configMaps, named(context, "a", { data: { x: "0" } }));
      const answers = await Promise.allSettled(
        ["1", "2", "3", "4"].map((value) =>
          client.patch(configMaps, at(context), {
            type: "json",
            operations: [
              { op: "test", path: "/data/x", value: "0" },
              { op: "replace", path: "/data/x", value },
            ],
          }),
        ),
      );
      const told = answers.map((answer) =>
        answer.status === "fulfilled" ? "done" : `${answer.reason.status} ${answer.reason.reason}`,
      );
      assert.deepEqual(told.sort(), ["422 Invalid", "422 Invalid", "422 Invalid", "done"]);
    },
  },
  {
    name: "a dry run of a custom resource's patch changes nothing",
    async check(context) {
      const { client } = context;
      await client.create(widgets, named(context, "a", { spec: { size: 1 } }));
      const operations = [{ op: "replace", path: "/spec/size", value: 2 }] as const;
      const patch = { type: "json", operations } as const;
      const shown = await client.patch(widgets, at(context), patch, { dryRun: true });
      assert.deepEqual(Object(shown.spec)["size"], 2);
      assert.deepEqual(Object((await client.get(widgets, at(context))).spec)["size"], 1);
    },
  },
  {
    name: "a custom resource that is applied with force takes over the fields of others",
    async check(context) {
      const { client, namespace } = context;
      const apply = (size: number, fieldManager: string, force: boolean) => {
        const metadata = { namespace, name: "a" };
        const body = { apiVersion: "testing.virtkit.dev/v1", kind: "Widget", metadata };
        const patch = { type: "apply", force, body: { ...body, spec: { size } } } as const;
        return client.patch(widgets, metadata, patch, { fieldManager });
      };
      await apply(1, "one", false);
      await refused(apply(2, "two", false), 409, "Conflict");
      assert.deepEqual(Object((await apply(2, "two", true)).spec)["size"], 2);
    },
  },
  {
    name: "Pods are listed and watched by their node, and one object by its name",
    async check(context) {
      const { client, namespace } = context;
      const { resourceVersion } = (await client.list(pods, { namespace })).metadata;
      await client.create(pods, idlePod(context, "a"));
      await client.create(pods, idlePod(context, "b", { spec: { nodeName: "virtkit-none" } }));
      const fieldSelector = "spec.nodeName=virtkit-none";
      const { items } = await client.list(pods, { namespace, fieldSelector });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ["b"],
      );
      const events = await firstEvents(context, pods, 1, { resourceVersion, fieldSelector });
      assert.deepEqual(told(events), ["ADDED b"]);
      const one = { resourceVersion, fieldSelector: "metadata.name=a" };
      assert.deepEqual(told(await firstEvents(context, pods, 1, one)), ["ADDED a"]);
      await client.delete(pods, { namespace, name: "b" }, { gracePeriodSeconds: 0 });
    },
  },
  {
    name: "a strategic patch merges the conditions of a Node by type",
    async check({ client, namespace: name }) {
      await client.create(nodes, { metadata: { name } });
      const set = (type: string, status: string) => {
        const body = { status: { conditions: [{ type, status }] } };
        return client.patch(
          nodes,
          { name },
          { type: "strategic", body },
          { subresource: "status" },
        );
      };
      await set("Ready", "True");
      await set("virtkit.dev/a", "True");
      const { status } = await set("Ready", "False");
      const found = Object(status)["conditions"] as { type: string; status: string }[];
      assert.deepEqual(found.map(({ type, status }) => `${type} ${status}`).sort(), [
        "Ready False",
        "virtkit.dev/a True",
      ]);
      await client.delete(nodes, { name });
    },
  },
  {
    name: "a JSON patch tests texts with <, > and &",
    async check(context) {
      const { client } = context;
      const value = "1->2 & <3>";
      await client.create(configMaps, named(context, "a", { data: { x: value } }));
      const operations: readonly JsonPatchOperation[] = [
        { op: "test", path: "/data/x", value },
        { op: "replace", path: "/data/x", value: "4" },
      ];
      await client.patch(configMaps, at(context), { type: "json", operations });
      const { data } = await client.get(configMaps, at(context));
      assert.deepEqual(data, { x: "4" });
    },
  },
  {
    name: "a kind that is not served is not found",
    async check(context) {
      const { client, namespace } = context;
      const merge = { type: "merge", body: {} } as const;
      const json = { type: "json", operations: [] } as const;
      // Without a reason, which distinguishes it from a missing object.
      const requests = [
        client.list(absent, { namespace }),
        client.get(absent, at(context)),
        client.create(absent, named(context, "a")),
        client.patch(absent, at(context), merge),
        client.patch(absent, at(context), json),
        client.delete(absent, at(context)),
      ];
      for (const { status, reason } of await Promise.all(requests.map(refusal))) {
        assert.deepEqual([status, reason], [404, undefined]);
      }
    },
  },
  {
    name: "nothing is created in a namespace that is being deleted",
    async check(context) {
      const { client, namespace } = context;
      const metadata = { finalizers: ["virtkit.dev/one"] };
      await client.create(configMaps, named(context, "a", { metadata }));
      await client.delete(namespaces, { name: namespace });
      await refused(client.create(configMaps, named(context, "b")), 403, "Forbidden");
      const body = { metadata: { finalizers: null } };
      await client.patch(configMaps, at(context), { type: "merge", body });
    },
  },
];
