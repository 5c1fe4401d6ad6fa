import { expect, test } from "vitest";
import { cluster, instance } from "../testing/verdict.ts";
import { admitInstancetypeObject } from "./instancetype-object.ts";
import { admitReplicaSet } from "./replica-set.ts";

const set = (matchLabels: object, labels: object, spec: unknown = instance()["spec"]) => ({
  metadata: { name: "set" },
  spec: { replicas: 1, selector: { matchLabels }, template: { metadata: { labels }, spec } },
});

test("a replica set must select the VMIs that it creates", () => {
  expect(admitReplicaSet({ object: set({ a: "1" }, { a: "1" }) }, cluster()).allowed).toBe(true);
  expect(admitReplicaSet({ object: set({ a: "1" }, { a: "2" }) }, cluster())).toMatchObject({
    code: 422,
    causes: [{ field: "spec.selector" }],
  });
});

test("judges the template of a replica set as a VMI", () => {
  const spec = { ...Object(instance()["spec"]), hostname: "Not_A_Name" };
  const { causes } = admitReplicaSet({ object: set({ a: "1" }, { a: "1" }, spec) }, cluster());
  expect(causes.map(({ field }) => field).join()).toContain("spec.template.spec");
});

test("an instance type cannot overcommit hugepages", () => {
  const object = (memory: object) => ({
    metadata: { name: "it" },
    spec: { cpu: { guest: 1 }, memory: { guest: "1Gi", ...memory } },
  });
  const judged = (memory: object) =>
    admitInstancetypeObject("virtualmachineinstancetypes", { object: object(memory) });
  expect(judged({}).allowed).toBe(true);
  expect(judged({ overcommitPercent: 10 }).allowed).toBe(true);
  expect(judged({ overcommitPercent: 101 }).allowed).toBe(false);
  expect(judged({ overcommitPercent: 10, hugepages: { pageSize: "2Mi" } }).allowed).toBe(false);
});

test("judges a preference by its shape", () => {
  const object = { metadata: {}, spec: { cpu: { preferredCPUTopology: 3 } } };
  expect(admitInstancetypeObject("virtualmachinepreferences", { object }).allowed).toBe(false);
});
