import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const exec: Change = { exec: { command: ["true"] } };

test.each<[Change, ClusterOptions, string[]]>([
  [{ startStrategy: "Paused" }, {}, []],
  [{ startStrategy: "Later" }, {}, ["Invalid spec.startStrategy"]],
  [{ startStrategy: "" }, {}, ["Invalid spec.startStrategy"]],
  [{ startStrategy: "Paused", livenessProbe: exec }, {}, ["Invalid spec.startStrategy"]],
  [{ startStrategy: "Paused", readinessProbe: exec }, {}, []],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});
