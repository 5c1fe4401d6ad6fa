import { expect, test } from "vitest";
import { type Change, type ClusterOptions, cluster, shown } from "../testing/verdict.ts";
import { admitMigrationPolicy } from "./migration-policy.ts";

const open: ClusterOptions = { gates: ["MigrationStallDetection"] };
const policy = (spec: Change): Change => ({ spec: { selectors: {}, ...spec } });
const stall = (stallDetector: Change): Change => ({ experimental: { stallDetector } });

function verdict(spec: Change, options: ClusterOptions = {}, old?: Change): string[] {
  const request = { object: policy(spec), ...(old ? { oldObject: policy(old) } : {}) };
  const { causes } = admitMigrationPolicy(request, cluster(options));
  return causes.map(shown);
}

test.each<[Change, ClusterOptions, string[]]>([
  [{ completionTimeoutPerGiB: 0, bandwidthPerMigration: "64Mi" }, {}, []],
  [{ completionTimeoutPerGiB: -1 }, {}, ["Invalid spec.completionTimeoutPerGiB"]],
  [{ bandwidthPerMigration: "-1m" }, {}, ["Invalid spec.bandwidthPerMigration"]],
  [{ maxDowntimeMs: 100 }, {}, ["Invalid spec.maxDowntimeMs"]],
  [{ maxDowntimeMs: 100 }, open, []],
  [stall({}), {}, ["Invalid spec.experimental.stallDetector"]],
  [
    stall({
      ewmaAlpha: "1",
      precopyPossibleFactor: "1.5",
      patienceWindowDecayFactor: "0",
      completionTimeoutFactor: "1e2",
    }),
    open,
    [],
  ],
])("%j %j: %j", (spec, options, expected) => {
  expect(verdict(spec, options)).toEqual(expected);
});

test.each([
  ["ewmaAlpha", "0"],
  ["ewmaAlpha", "1.1"],
  ["precopyPossibleFactor", "0.999"],
  ["patienceWindowDecayFactor", "-0.1"],
  ["patienceWindowDecayFactor", "1.001"],
  ["completionTimeoutFactor", "0.5"],
  ["completionTimeoutFactor", "1.2345"],
  ["completionTimeoutFactor", "two"],
  ["completionTimeoutFactor", "Infinity"],
  ["completionTimeoutFactor", "1e999"],
  ["completionTimeoutFactor", "0x10"],
  ["completionTimeoutFactor", ""],
])("%s cannot be %j", (name, value) => {
  expect(verdict(stall({ [name]: value }), open)).toEqual([
    `Invalid spec.experimental.stallDetector.${name}`,
  ]);
});

test("an option that needs the gate may stay unchanged while the gate is off", () => {
  const spec = { maxDowntimeMs: 100, ...stall({ ewmaAlpha: "0.4" }) };
  expect(verdict(spec, {}, spec)).toEqual([]);
  expect(verdict(spec, {}, { maxDowntimeMs: 200, ...stall({ ewmaAlpha: "0.5" }) })).toHaveLength(2);
});

test("answers for an object of any shape", () => {
  for (const object of [undefined, null, 7, [], { spec: 7 }]) {
    expect(admitMigrationPolicy({ object, oldObject: object }, cluster()).allowed).toBe(false);
  }
  expect(admitMigrationPolicy({ object: {} }, cluster()).allowed).toBe(true);
});
