import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import { clientTarget, type PlanClient } from "./client-target.ts";
import { podResource, vmiResource } from "./resources.ts";

function recordingClient(): PlanClient & { calls: unknown[][] } {
  const calls: unknown[][] = [];
  const record =
    (verb: string) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push([verb, ...args]);
      return undefined as never;
    };
  return {
    calls,
    create: record("create"),
    delete: record("delete"),
    get: record("get"),
    patch: record("patch"),
    request: record("request"),
  };
}

const subresources = names().groups.subresources;
const object = { namespace: "ns", name: "a" };

test("deletes by UID, so that a later object of the same name survives", async () => {
  const client = recordingClient();
  await clientTarget(client, { names: names() }).write({
    kind: "delete",
    resource: podResource,
    object,
    uid: "u",
    propagationPolicy: "Foreground",
  });
  const options = { preconditions: { uid: "u" }, propagationPolicy: "Foreground" };
  expect(client.calls).toMatchObject([["delete", {}, object, options]]);
});

test("sends calls to the subresources of the VMI", async () => {
  const client = recordingClient();
  await clientTarget(client, { names: names() }).write({
    kind: "call",
    resource: vmiResource(names()),
    object: { namespace: "ns", name: "a/b" },
    subresource: "addvolume",
    body: { name: "v" },
  });
  const path = `/apis/${subresources}/v1/namespaces/ns/virtualmachineinstances/a%2Fb/addvolume`;
  expect(client.calls).toMatchObject([["request", { method: "PUT", path, body: { name: "v" } }]]);
});

test("sends creates and patches to their subresource", async () => {
  const client = recordingClient();
  const target = clientTarget(client, { names: names() });
  await target.write({ kind: "create", resource: podResource, object: { metadata: object } });
  const operations = [{ op: "remove", path: "/x" }] as const;
  await target.write({
    kind: "patch",
    resource: podResource,
    object,
    subresource: "status",
    operations,
  });
  expect(client.calls).toMatchObject([
    ["create", {}, { metadata: object }, {}],
    ["patch", {}, object, { type: "json", operations }, { subresource: "status" }],
  ]);
});
