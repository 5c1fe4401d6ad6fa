import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const constraint = (change: Change = {}): Change => ({
  maxSkew: 1,
  topologyKey: "zone",
  whenUnsatisfiable: "DoNotSchedule",
  ...change,
});
const at = "Invalid spec.topologySpreadConstraints";

test.each<[Change[], string[]]>([
  [[constraint(), constraint({ topologyKey: "node" })], []],
  [[constraint({ maxSkew: 0 })], [`${at}[0].maxSkew`]],
  [[constraint({ topologyKey: "" })], [`${at}[0].topologyKey`]],
  [[constraint({ topologyKey: "-" })], [`${at}[0].topologyKey`]],
  [[constraint({ whenUnsatisfiable: "Maybe" })], ["schema"]],
  [[constraint({ whenUnsatisfiable: "" })], ["schema"]],
  [[{ maxSkew: 1, topologyKey: "zone" }], [`${at}[0].whenUnsatisfiable`]],
  [
    [constraint({ labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] } })],
    [`${at}.labelSelector.matchExpressions[0].values`],
  ],
  [
    [constraint(), constraint(), constraint()],
    [`${at}[0].{topologyKey, whenUnsatisfiable}`, `${at}[1].{topologyKey, whenUnsatisfiable}`],
  ],
])("%j: %j", (topologySpreadConstraints, expected) => {
  expect(verdict({ topologySpreadConstraints })).toEqual(expected);
});
