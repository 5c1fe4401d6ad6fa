import { parseQuantity } from "@virtkit/api/quantity";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */

const suffixes = ["Mi", "Gi", "Ki", "m", "", "M", "G"];

/**
 * Strings as manifests have them, new in each round.
 * @param {number} round
 */
function texts(round) {
  return Array.from(
    { length: 2000 },
    (_, i) => `${1 + ((i * 7 + Math.abs(round)) % 999)}${suffixes[i % suffixes.length]}`,
  );
}

const factors = new Map([
  ["Ki", 2n ** 10n * 1000n],
  ["Mi", 2n ** 20n * 1000n],
  ["Gi", 2n ** 30n * 1000n],
  ["m", 1n],
  ["", 1000n],
  ["M", 10n ** 9n],
  ["G", 10n ** 12n],
]);

/**
 * What a first attempt looks like: a regular expression, and BigInt for every number.
 * @param {string} text
 */
function milliUnits(text) {
  const [, digits = "0", suffix = ""] = /^([0-9]+)([A-Za-z]*)$/.exec(text) ?? [];
  return BigInt(digits) * (factors.get(suffix) ?? 0n);
}

/** @type {Benchmark[]} */
export const benchmarks = [
  {
    name: "quantity: parse, as 64Mi or 500m",
    subject: {
      name: "parseQuantity",
      prepare: texts,
      run: (given) => {
        let positive = 0;
        for (const text of given) positive += parseQuantity(text).sign();
        return positive;
      },
    },
    baseline: {
      name: "a regular expression and BigInt, suffixes only",
      prepare: texts,
      run: (given) => {
        let positive = 0;
        for (const text of given) positive += milliUnits(text) > 0n ? 1 : 0;
        return positive;
      },
    },
    goal: "no slower than a parser without the rules",
    allocations: true,
  },
  {
    name: "quantity: add, compare, write",
    subject: {
      name: "Quantity",
      prepare: (round) => texts(round).map((text) => parseQuantity(text)),
      run: (given) => {
        let sum = parseQuantity("0");
        const limit = parseQuantity("1Pi");
        for (const quantity of given) {
          sum = sum.add(quantity);
          if (sum.cmp(limit) > 0 || sum.toString() === "") throw new Error("unexpected sum");
        }
        return given.length;
      },
    },
    allocations: true,
  },
];
