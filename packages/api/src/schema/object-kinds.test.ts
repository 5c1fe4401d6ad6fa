import { describe, expect, expectTypeOf, test } from "vitest";
import { check } from "./check.ts";
import { checkObject } from "./check-object.ts";
import { objectKinds, schemaFor } from "./object-kinds.ts";
import type { VirtualMachine } from "./virtual-machine/virtual-machine.ts";

describe("schemaFor", () => {
  test.each([
    ["kubevirt.io/v1", "VirtualMachine"],
    ["kubevirt.io/v1alpha3", "VirtualMachine"],
    ["migrations.kubevirt.io/v1alpha1", "MigrationPolicy"],
    ["instancetype.kubevirt.io/v1beta1", "VirtualMachineClusterPreference"],
    ["pool.kubevirt.io/v1beta1", "VirtualMachinePool"],
    ["pool.kubevirt.io/v1alpha1", "VirtualMachinePool"],
  ] as const)("knows %s %s", (apiVersion, kind) => {
    expect(schemaFor({ apiVersion, kind })).toBe(objectKinds[kind].schema);
  });

  test.each([
    [{ apiVersion: "kubevirt.io/v2", kind: "VirtualMachine" }],
    [{ apiVersion: "v1", kind: "VirtualMachine" }],
    [{ apiVersion: "instancetype.kubevirt.io/v1beta1", kind: "VirtualMachine" }],
    [{ apiVersion: "kubevirt.io/v1", kind: "toString" }],
    [{ apiVersion: "kubevirt.io/v1", kind: "__proto__" }],
    [{ kind: ["VirtualMachine"] }],
    ["VirtualMachine"],
    [null],
    [undefined],
  ])("does not know %j", (object) => {
    expect(schemaFor(object)).toBeUndefined();
  });

  test("accepts another root for the API groups", () => {
    const object = {
      apiVersion: "instancetype.vm.example/v1beta1",
      kind: "VirtualMachinePreference",
    };
    expect(schemaFor(object, { group: "vm.example" })).toBe(
      objectKinds.VirtualMachinePreference.schema,
    );
    expect(schemaFor(object)).toBeUndefined();
  });
});

describe("checkObject", () => {
  test("checks against the schema that the object names", () => {
    const value = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachine" };
    expect(checkObject(value).issues.map(({ message }) => message)).toEqual(["spec must be set"]);
    const policy = {
      apiVersion: "migrations.kubevirt.io/v1alpha1",
      kind: "MigrationPolicy",
      spec: { selectors: {}, x: 1 },
    };
    expect(checkObject(policy)).toEqual({ valid: true, value: policy, issues: [] });
    expect(checkObject(policy, { strict: true }).issues).toHaveLength(1);
  });

  test.each([
    [[], "(root) must be an object with apiVersion and kind; found a list"],
    [undefined, "(root) must be an object with apiVersion and kind; found nothing"],
    [
      { kind: "Pod", apiVersion: "v1" },
      'kind and apiVersion do not name a known object: apiVersion is the string "v1", kind is the string "Pod"',
    ],
  ])("says what is wrong with %j", (value, message) => {
    expect(checkObject(value).issues.map((issue) => issue.message)).toEqual([message]);
  });

  test("survives an object that throws", () => {
    const value = new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    );
    expect(checkObject(value).issues.map(({ code }) => code)).toEqual(["unreadable"]);
  });
});

test("a checked value has the type of its schema", () => {
  const result = check(objectKinds.VirtualMachine.schema, {});
  if (result.valid) expectTypeOf(result.value).toEqualTypeOf<VirtualMachine>();
  else expectTypeOf(result.value).toEqualTypeOf<unknown>();
});
