import { expect, expectTypeOf, test } from "vitest";
import type * as z from "zod";
import {
  check,
  objectKinds,
  type SchemaNode,
  type VirtualMachine,
  VirtualMachineSchema,
} from "../schema/index.ts";
import { anything, pick, randomFrom, sample } from "../testing/random-object.ts";
import { zodSchema } from "./zod-schema.ts";

const vm = { spec: { template: { spec: { domain: { devices: {} } } }, running: null } };

test("is a zod schema of the interface", () => {
  expectTypeOf(zodSchema(VirtualMachineSchema)).toEqualTypeOf<z.ZodType<VirtualMachine>>();
  expect(zodSchema(VirtualMachineSchema).parse(vm)).toEqual(vm);
});

test("is built once per mode", () => {
  expect(zodSchema(VirtualMachineSchema)).toBe(zodSchema(VirtualMachineSchema));
  expect(zodSchema(VirtualMachineSchema, { strict: true })).not.toBe(
    zodSchema(VirtualMachineSchema),
  );
});

test("keeps unknown fields, and refuses them with their paths in strict mode", () => {
  const input = { ...vm, x: 1, spec: { ...vm.spec, y: 1 } };
  expect(zodSchema(VirtualMachineSchema).parse(input)).toEqual(input);
  const { error } = zodSchema(VirtualMachineSchema, { strict: true }).safeParse(input);
  expect(
    error?.issues.map(({ path, ...issue }) => [...path, "keys" in issue ? issue.keys : issue]),
  ).toEqual([["spec", ["y"]], [["x"]]]);
});

test("accepts a 64-bit number that JSON.parse has rounded", () => {
  const disks = [{ name: "a", bootOrder: Number("18446744073709551615") }];
  const input = { spec: { template: { spec: { domain: { devices: { disks } } } } } };
  expect(zodSchema(VirtualMachineSchema).safeParse(input).success).toBe(true);
});

test("agrees with check about random objects, valid and broken", () => {
  const random = randomFrom(7);
  const schemas: readonly SchemaNode[] = Object.values(objectKinds).map(({ schema }) => schema);
  const tally = { valid: 0, invalid: 0 };
  for (let run = 0; run < 2000; run++) {
    const schema = pick(schemas, random);
    const value = withoutProto(
      run % 2 === 0 ? sample(schema, random) : broken(sample(schema, random)),
    );
    const strict = random() < 0.5;
    const { valid } = check(schema, value, { strict });
    tally[valid ? "valid" : "invalid"]++;
    const parsed = zodSchema(schema, { strict }).safeParse(value);
    expect(parsed.success, `run ${run}: ${JSON.stringify(value)}`).toBe(valid);
  }
  expect(Math.min(tally.valid, tally.invalid)).toBeGreaterThan(400);

  /** The value with something else at a random place. */
  function broken(value: unknown): unknown {
    if (typeof value !== "object" || value === null || random() < 0.2) return anything(random, 1);
    const names = Object.keys(value);
    const name = pick(names, random);
    if (name !== undefined) {
      const object = value as Record<string, unknown>;
      object[name] = broken(object[name]);
    }
    return value;
  }
});

/** zod ignores a key `__proto__` in a map; check does not. */
function withoutProto(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null).replaceAll('"__proto__":', '"proto":'));
}
