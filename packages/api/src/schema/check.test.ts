import { describe, expect, test } from "vitest";
import { check } from "./check.ts";
import { DurationSchema } from "./duration.ts";
import { VirtualMachineInstanceSchema } from "./instance/virtual-machine-instance.ts";
import { IntOrStringSchema } from "./int-or-string.ts";
import { QuantityInputSchema } from "./quantity-input.ts";
import {
  anyObject,
  array,
  boolean,
  float,
  int32,
  int64,
  map,
  nullable,
  object,
  openEnum,
  required,
  type Schema,
  type SchemaNode,
  string,
  uint,
  uint8,
  uint32,
  withRules,
} from "./schema.ts";
import { TimeSchema } from "./time.ts";

function codes(schema: SchemaNode, value: unknown, options = {}): string[] {
  return check(schema, value, options).issues.map(({ code, path }) => `${code} ${path.join("/")}`);
}

const vmi = () => ({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  spec: { domain: { devices: { disks: [{ name: "root", disk: { bus: "virtio" } }] } } },
});

describe("a valid object", () => {
  test("is returned itself, not a copy, in its own order and with its unknown fields", () => {
    const input = { spec: { later: 1, domain: { devices: {} } }, kind: "VirtualMachineInstance" };
    const before = JSON.stringify(input);
    const result = check(VirtualMachineInstanceSchema, input);
    expect(result).toEqual({ valid: true, value: input, issues: [] });
    expect(result.value).toBe(input);
    expect(JSON.stringify(input)).toBe(before);
  });

  test("may be frozen", () => {
    expect(check(VirtualMachineInstanceSchema, Object.freeze(vmi())).valid).toBe(true);
  });

  test("may have other values than the known ones", () => {
    expect(check(openEnum(["a", "b"]), "c").valid).toBe(true);
  });
});

describe("values by type", () => {
  test.each([
    [string, "", true],
    [string, 1, false],
    [boolean, false, true],
    [boolean, "true", false],
    [boolean, 0, false],
    [float, 1.5, true],
    [float, Number.NaN, false],
    [float, "1.5", false],
    [int32, -(2 ** 31), true],
    [int32, 2 ** 31, false],
    [int32, 1.5, false],
    [int32, "1", false],
    [int64, 2 ** 63, true],
    [int64, 2 ** 64, false],
    [uint, Number("18446744073709551615"), true],
    [uint, -1, false],
    [uint8, 255, true],
    [uint8, 256, false],
    [uint32, 4294967295, true],
    [uint32, -0, true],
    [uint32, -1, false],
    [uint32, Number.POSITIVE_INFINITY, false],
    [QuantityInputSchema, "1.5Gi", true],
    [QuantityInputSchema, 3, true],
    [QuantityInputSchema, 1.5, false],
    [QuantityInputSchema, "1 Gi", false],
    [QuantityInputSchema, null, false],
    [IntOrStringSchema, 80, true],
    [IntOrStringSchema, "http", true],
    [IntOrStringSchema, 0.5, false],
    [TimeSchema, "2024-02-29T23:59:59.123456789+01:00", true],
    [TimeSchema, "2023-02-29T00:00:00Z", false],
    [DurationSchema, "1h2m3.5s", true],
    [DurationSchema, "1 hour", false],
    [anyObject(), { a: [{}] }, true],
    [anyObject(), [], false],
    [array(string), ["a"], true],
    [array(string), { 0: "a", length: 1 }, false],
    [array(string), [null], false],
    [map(int32), { a: 1 }, true],
    [map(int32), { a: null }, false],
    [map(int32), [1], false],
    [nullable(string), null, true],
    [nullable(string), 1, false],
  ] as [SchemaNode, unknown, boolean][])("%j: %j is valid: %j", (schema, value, valid) => {
    expect(check(schema, value).valid).toBe(valid);
  });
});

describe("absent and null", () => {
  const schema = object<{ a: string; b?: string; c?: string | null }>({
    a: required(string),
    b: string,
    c: nullable(string),
  });

  test("a required field must be present", () => {
    expect(codes(schema, {})).toEqual(["required a"]);
    expect(codes(schema, { a: null })).toEqual(["required a"]);
    expect(codes(schema, { a: undefined })).toEqual(["required a"]);
  });

  test("null in an optional field counts as absent", () => {
    expect(check(schema, { a: "", b: null, c: null }).valid).toBe(true);
    expect(check(schema, { a: "", b: undefined }).valid).toBe(true);
  });

  test("an inherited property does not count as present", () => {
    expect(codes(schema, Object.create({ a: "x" }))).toEqual(["required a"]);
  });
});

describe("strict", () => {
  test("reports each unknown field with its path", () => {
    const input = {
      ...vmi(),
      extra: 1,
      spec: {
        domain: { devices: { disks: [{ name: "a" }, { name: "b", Serial: "x", __x: {} }] } },
      },
    };
    expect(codes(VirtualMachineInstanceSchema, input, { strict: true })).toEqual([
      "unknown-field spec/domain/devices/disks/1/Serial",
      "unknown-field spec/domain/devices/disks/1/__x",
      "unknown-field extra",
    ]);
    expect(check(VirtualMachineInstanceSchema, input).valid).toBe(true);
  });

  test("suggests the field that was probably meant", () => {
    const { issues } = check(
      VirtualMachineInstanceSchema,
      { spec: { domain: { devices: {}, cpus: {} } } },
      { strict: true },
    );
    expect(issues[0]?.message).toBe('spec.domain.cpus is not a known field; did you mean "cpu"?');
  });

  test("reports __proto__ like any other unknown field and leaves prototypes alone", () => {
    const input = JSON.parse('{"spec":{"domain":{"devices":{}}},"__proto__":{"polluted":true}}');
    expect(codes(VirtualMachineInstanceSchema, input, { strict: true })).toEqual([
      "unknown-field __proto__",
    ]);
    expect(Object.hasOwn(input, "__proto__")).toBe(true);
    expect("polluted" in {}).toBe(false);
  });

  test("leaves free objects alone", () => {
    const metadata = { managedFields: [{ fieldsV1: { "f:spec": { ".": {} } } }] };
    expect(
      check(VirtualMachineInstanceSchema, { ...vmi(), metadata }, { strict: true }).valid,
    ).toBe(true);
  });
});

describe("rules", () => {
  const schema = object<{ n?: number; s?: string; e?: string; l?: string[] }>({
    n: withRules(int32, { minimum: 1, maximum: 10 }),
    s: withRules(string, { minLength: 1, maxLength: 3, pattern: "^a" }),
    e: withRules(openEnum(["x", "y"]) as Schema<string>, { closed: true }),
    l: withRules(array(string), { maxItems: 2 }),
  });

  test("are left to the API server by default", () => {
    expect(check(schema, { n: 0, s: "", e: "z", l: ["", "", ""] }).valid).toBe(true);
  });

  test.each([
    [{ n: 0 }, "n must be at least 1; found 0"],
    [{ n: 11 }, "n must be at most 10; found 11"],
    [{ s: "" }, 's must have at least 1 characters; found ""'],
    [{ s: "aaaa" }, "s must have at most 3 characters; found 4"],
    [{ s: "b" }, 's must match ^a; found "b"'],
    [{ e: "z" }, 'e must be one of "x", "y"; found "z"'],
    [{ l: ["", "", ""] }, "l must have at most 2 items; found 3"],
  ])("%j", (value, message) => {
    const { issues } = check(schema, value, { rules: true });
    expect(issues).toEqual([{ code: "rule", path: Object.keys(value), message }]);
  });

  test("count characters as people do", () => {
    expect(check(schema, { s: "a🙂🙂" }, { rules: true }).valid).toBe(true);
  });

  test("report one fault for a value of the wrong type", () => {
    expect(codes(schema, { n: "0" }, { rules: true })).toEqual(["type n"]);
  });
});

describe("a message", () => {
  test.each([
    [
      { spec: { domain: { devices: {}, cpu: { cores: "2" } } } },
      'spec.domain.cpu.cores must be a whole number; found the string "2"',
    ],
    [
      { spec: { domain: { devices: {}, cpu: { cores: -1 } } } },
      "spec.domain.cpu.cores must be from 0 to 4294967295; found -1",
    ],
    [{ spec: { domain: {} } }, "spec.domain.devices must be set"],
    [{ spec: null }, "spec must be set; found null"],
    [[], "(root) must be an object; found a list"],
    [
      { spec: { domain: { devices: { disks: [{ name: [] }] } } } },
      "spec.domain.devices.disks[0].name must be a string; found a list",
    ],
    [
      { spec: { domain: { devices: {} }, nodeSelector: { "a/b": 1 } } },
      'spec.nodeSelector["a/b"] must be a string; found the number 1',
    ],
  ])("for %j", (value, message) => {
    expect(check(VirtualMachineInstanceSchema, value).issues[0]?.message).toBe(message);
  });
});

describe("limits", () => {
  test("the list of issues ends at maxIssues", () => {
    const value = Array.from({ length: 1000 }, () => 1);
    expect(check(array(string), value).issues).toHaveLength(100);
    expect(check(array(string), value, { maxIssues: 3 }).issues).toHaveLength(3);
    expect(check(array(string), value, { maxIssues: 0 }).issues).toHaveLength(1);
  });

  test("does not walk a shared value again and again", () => {
    const wide = (item: unknown): unknown[] => Array.from({ length: 2000 }, () => item);
    const schema = array(array(array(array(string))));
    expect(codes(schema, wide(wide(wide(wide("lol")))))).toEqual(["too-large 0/0/497"]);
  });

  test("walks no deeper than the schema", () => {
    const deep = JSON.parse("[".repeat(5000) + "]".repeat(5000));
    const deeper = Array.from({ length: 100_000 }).reduce<unknown>((inner) => ({ spec: inner }), 1);
    const metadata = { managedFields: [{ fieldsV1: { deeper } }] };
    const input = { metadata, spec: { domain: deep, later: deeper }, status: deeper };
    expect(codes(VirtualMachineInstanceSchema, input, { strict: true })).toEqual([
      "type spec/domain",
      "unknown-field spec/later",
      "unknown-field status/spec",
    ]);
  });

  test("many wrong items or unknown fields give a bounded list", () => {
    const disks = Array.from({ length: 900_000 }, () => 1);
    const input = { spec: { domain: { devices: { disks } } } };
    expect(check(VirtualMachineInstanceSchema, input).issues).toHaveLength(100);
    const wide = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index]),
    );
    expect(check(VirtualMachineInstanceSchema, wide, { strict: true }).issues).toHaveLength(100);
  });

  test("walks a cyclic value as far as the schema goes", () => {
    const input: Record<string, unknown> = vmi();
    input["metadata"] = input;
    expect(check(VirtualMachineInstanceSchema, input, { strict: true }).valid).toBe(false);
  });

  test("cuts long keys and values in messages, but never in paths", () => {
    const key = "k".repeat(1_000_000);
    const { issues } = check(map(int32), { [key]: "v".repeat(1_000_000) });
    expect(issues[0]?.path).toEqual([key]);
    expect(issues[0]?.message.length).toBeLessThan(300);
  });

  test("reports a property that throws", () => {
    const input = {
      get spec(): never {
        throw new Error("no");
      },
    };
    expect(codes(VirtualMachineInstanceSchema, input)).toEqual(["unreadable spec"]);
  });
});
