import { expect, test } from "vitest";
import { metadataProblems } from "./object-metadata.ts";

const fields = (metadata: unknown): readonly string[] =>
  metadataProblems({ metadata }).map(({ message }) => message.split(";", 1)[0] ?? "");

test.each([
  [{ name: "web-1.example", namespace: "default" }, []],
  [{ generateName: "web-" }, []],
  [{ name: "" }, []],
  [{ name: "Bad_Name" }, ['metadata.name is "Bad_Name"']],
  [{ name: "a", namespace: "two.parts" }, ['metadata.namespace is "two.parts"']],
  [{ labels: { "example.com/tier": "db", empty: "" } }, []],
  [{ labels: { "two words": "a" } }, ['metadata.labels has the key "two words"']],
  [{ labels: { tier: "a b" } }, ['metadata.labels.tier is "a b"']],
  [{ annotations: { "Example.com/note": "any text at all" } }, []],
  [{ annotations: { "a/b/c": "" } }, ['metadata.annotations has the key "a/b/c"']],
])("%j: %j", (metadata, expected) => {
  expect(fields(metadata)).toEqual(expected);
});

test("names the field, what was found and the rule", () => {
  expect(metadataProblems({ metadata: { name: "Bad_Name" } })).toEqual([
    {
      path: ["metadata", "name"],
      message:
        "metadata.name is \"Bad_Name\"; it must be a DNS name: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",
    },
  ]);
});

test.each([
  undefined,
  null,
  5,
  "x",
  [],
  {},
  { metadata: 7 },
  { metadata: { labels: 3, name: {} } },
])("%j has no problem that the schema does not report", (object) => {
  expect(metadataProblems(object)).toEqual([]);
});
