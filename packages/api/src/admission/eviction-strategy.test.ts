import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

test.each<[Change, ClusterOptions, string[]]>([
  [{ evictionStrategy: "LiveMigrateIfPossible" }, {}, []],
  [{ evictionStrategy: "Explode" }, {}, ["Invalid spec.evictionStrategy"]],
  [{}, { configuration: { evictionStrategy: "Explode" } }, ["Invalid spec.evictionStrategy"]],
  [{ evictionStrategy: "None" }, { configuration: { evictionStrategy: "Explode" } }, []],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});
