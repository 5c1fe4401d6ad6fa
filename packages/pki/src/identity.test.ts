import { expect, it } from "vitest";
import {
  apiServerIdentity,
  type Identity,
  identityUri,
  isExpected,
  migrationIdentity,
  nodeAgentIdentity,
  parseIdentityUri,
} from "./identity.ts";

const uid = "6f4e58b1-6a35-4cf7-a3a4-5a29f57d8f9c";

it.each<[string, Identity]>([
  ["spiffe://lab.example/node-agent/node-1.lab", nodeAgentIdentity("node-1.lab")],
  ["spiffe://lab.example/api-server", apiServerIdentity()],
  [`spiffe://lab.example/migration/${uid}/target`, migrationIdentity(uid, "target")],
  ["spiffe://lab.example/backup/a/b", { role: "backup", names: ["a", "b"] }],
])("an identity converts to a URI and back: %s", (uri, identity) => {
  expect(identityUri("lab.example", identity)).toBe(uri);
  expect(parseIdentityUri(uri)).toEqual({ trustDomain: "lab.example", identity });
});

it.each([
  ["role", { role: "", names: [] }],
  ["role", { role: "a/b", names: [] }],
  ["names[0]", { role: "migration", names: ["..", "target"] }],
  ["names[1]", { role: "migration", names: [uid, "target/../source"] }],
  ["names[0]", { role: "node-agent", names: ["x".repeat(254)] }],
  ["names", { role: "r", names: Array.from({ length: 20 }, () => "x".repeat(200)) }],
])("refuses a part that would read as another identity: %s", (path, identity) => {
  expect(() => identityUri("lab", identity)).toThrow(
    expect.objectContaining({ code: "PKI_INPUT_INVALID", path }),
  );
});

it.each([
  "",
  "spiffe://",
  "spiffe://lab",
  "spiffe://lab/",
  "spiffe:///migration/u/target",
  "spiffe://LAB/migration/u/target",
  "spiffe://lab:1/migration/u/target",
  "spiffe://user@lab/migration/u/target",
  "spiffe://lab/migration//target",
  "spiffe://lab/migration/%75/target",
  "spiffe://lab/migration/u/target/",
  "spiffe://lab/migration/u/target?x",
  "https://lab/migration/u/target",
  `spiffe://lab/${"a/".repeat(2000)}b`,
])("any other URI is not an identity: %s", (uri) => {
  expect(parseIdentityUri(uri)).toBeUndefined();
});

it("an expected identity matches only itself, an expected role all its holders", () => {
  const target = migrationIdentity(uid, "target");
  expect(isExpected(target, migrationIdentity(uid, "target"))).toBe(true);
  expect(isExpected(target, migrationIdentity(uid, "source"))).toBe(false);
  expect(isExpected(target, migrationIdentity("other", "target"))).toBe(false);
  expect(isExpected(target, { role: "migration", names: [uid] })).toBe(false);
  expect(isExpected(target, { role: "migration", names: [] })).toBe(false);
  expect(isExpected(target, { anyOf: "migration" })).toBe(true);
  expect(isExpected(target, { anyOf: "node-agent" })).toBe(false);
});
