import { expect, test } from "vitest";
import { cluster, instance } from "../testing/verdict.ts";
import { admitPool } from "./pool.ts";

const spec = (parts: object = {}) => ({ ...Object(instance()["spec"]), ...parts });

const pool = (matchLabels: object, labels: object, vmi: object = spec(), vm: object = {}) => ({
  metadata: { name: "desks" },
  spec: {
    replicas: 1,
    selector: { matchLabels },
    virtualMachineTemplate: {
      metadata: { labels },
      spec: { runStrategy: "Always", template: { spec: vmi }, ...vm },
    },
  },
});

const judged = (object: unknown, ...old: readonly unknown[]) => {
  const operation = old.length > 0 ? "UPDATE" : "CREATE";
  return admitPool({ object, oldObject: old[0], operation }, cluster());
};
const fields = (object: unknown, ...old: readonly unknown[]) =>
  judged(object, ...old).causes.map(({ field }) => field);

const good = pool({ a: "1" }, { a: "1", b: "2" });

test("a pool must select the VMs that it creates", () => {
  expect(judged(good).allowed).toBe(true);
  expect(judged(pool({ a: "1" }, { a: "2" }))).toMatchObject({ code: 422 });
  expect(fields(pool({ a: "1" }, { a: "2" }))).toEqual(["spec.selector"]);
  expect(fields(pool({ "not a key": "1" }, {}))[0]).toContain("spec.selector");
});

test("the selector cannot change, everything else can", () => {
  const other = pool({ b: "2" }, { a: "1", b: "2" });
  expect(fields(other, good)).toEqual(["spec.selector"]);
  expect(judged({ ...good, spec: { ...good.spec, replicas: 9 } }, good).allowed).toBe(true);
});

test("judges the template as a VM, and names its fields by their place in the pool", () => {
  const at = "spec.virtualMachineTemplate.spec";
  const names = (vmi: object, vm: object = {}) => fields(pool({ a: "1" }, { a: "1" }, vmi, vm));
  expect(names(spec({ hostname: "Not_A_Name" }))).toContain(`${at}.template.spec.hostname`);
  expect(names(spec(), { runStrategy: "Sometimes" })).toEqual([`${at}.runStrategy`]);
  const { causes } = judged(pool({ a: "1" }, { a: "1" }, spec(), { runStrategy: "Sometimes" }));
  expect(causes.map(({ message }) => message.split(" ", 1))).toEqual([[`${at}.runStrategy`]]);
  const none = { metadata: { name: "p" }, spec: { selector: {}, virtualMachineTemplate: {} } };
  expect(judged(none).allowed).toBe(false);
});

test.each([undefined, null, 3, "x", [], {}, { spec: 1 }, { spec: { virtualMachineTemplate: 1 } }])(
  "%j is not a pool and is refused",
  (object) => {
    expect(judged(object).allowed).toBe(false);
    expect(judged(good, object).allowed).toBe(false);
  },
);
