import { expect, test } from "vitest";
import { build, check } from "./index.ts";
import {
  array,
  boolean,
  object,
  openEnum,
  required,
  type Schema,
  string,
  withRules,
} from "./schema.ts";

interface Example {
  name: string;
  flag?: boolean;
}

test("an object keeps its fields in order and knows which are required", () => {
  const schema = object<Example>({ name: required(string), flag: boolean });
  expect(schema).toMatchObject({ kind: "object", required: ["name"] });
  expect(schema.kind === "object" && [...schema.fields.keys()]).toEqual(["name", "flag"]);
});

test("rules are added to existing ones, on a copy", () => {
  const one = withRules(string, { minLength: 1 });
  expect(withRules(one, { maxLength: 2 }).rules).toEqual({ minLength: 1, maxLength: 2 });
  expect(one.rules).toEqual({ minLength: 1 });
  expect(string.rules).toBeUndefined();
});

test("a table that disagrees with its interface does not compile", () => {
  // @ts-expect-error: a field is missing
  object<Example>({ name: required(string) });
  // @ts-expect-error: a field too many
  object<Example>({ name: required(string), flag: boolean, more: string });
  // @ts-expect-error: required is optional
  object<Example>({ name: string, flag: boolean });
  // @ts-expect-error: optional is required
  object<Example>({ name: required(string), flag: required(boolean) });
  // @ts-expect-error: another type
  object<Example>({ name: required(string), flag: string });
  // @ts-expect-error: a list is no single value
  object<Example>({ name: required(array(string)), flag: boolean });
  // @ts-expect-error: a schema of something narrower is another schema
  const narrow: Schema<string | number> = string;
  // An open enum is any string.
  const open: Schema<string> = openEnum(["a"]);
  expect([narrow, open]).toHaveLength(2);
});

test("external code describes its own values with the same builders", () => {
  interface Handoff {
    podUid: string;
    ports?: Record<string, number>;
  }
  const HandoffSchema = build.object<Handoff>({
    podUid: build.required(build.string),
    ports: build.map(build.int32),
  });
  const { issues } = check(HandoffSchema, { ports: { vnc: "5900" } });
  expect(issues.map(({ message }) => message)).toEqual([
    'ports.vnc must be a whole number; found the string "5900"',
    "podUid must be set",
  ]);
});
