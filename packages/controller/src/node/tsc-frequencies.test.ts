import { names as namesOf } from "@virtkit/api/names";
import { expect, test } from "vitest";
import type { TextMap } from "../plan/map-patch.ts";
import { lowestFrequency, withOffered } from "./tsc-frequencies.ts";

const names = namesOf();
const { cpuTimer, schedulable, tscFrequency } = names.nodeLabels;

const clock = (frequency: number, isScalable = true): TextMap => ({
  [`${cpuTimer}tsc-frequency`]: String(frequency),
  [`${cpuTimer}tsc-scalable`]: String(isScalable),
});
const offered = (labels: TextMap, required: readonly number[]): readonly string[] =>
  Object.keys(withOffered({ metadata: { labels } }, required, names))
    .filter((key) => key.startsWith(tscFrequency))
    .map((key) => key.slice(tscFrequency.length));

test("a node that scales offers its own frequency and lower ones, another one only its own", () => {
  const required = [2_000_000_000, 2_500_000_000, 3_000_000_000];
  expect(offered(clock(2_500_000_000), required)).toEqual(["2000000000", "2500000000"]);
  expect(offered(clock(2_500_000_000, false), required)).toEqual(["2500000000"]);
});

test("a frequency that differs by less than 250 millionths is the node's own", () => {
  const required = [2_500_600_000, 2_499_400_000, 2_500_700_000];
  expect(offered(clock(2_500_000_000, false), required)).toEqual(["2500600000", "2499400000"]);
});

test("what is not required any more is not offered, and other labels stay", () => {
  const labels = { ...clock(2_500_000_000), [`${tscFrequency}1000000000`]: "true", rack: "7" };
  expect(withOffered({ metadata: { labels } }, [], names)).toEqual({
    ...clock(2_500_000_000),
    rack: "7",
  });
});

test("a node whose agent says no frequency keeps its labels", () => {
  const labels = { [`${tscFrequency}1000000000`]: "true" };
  expect(withOffered({ metadata: { labels } }, [2_000_000_000], names)).toBe(labels);
});

test("the lowest frequency counts nodes that accept VMIs or have some", () => {
  const node = (name: string, frequency: number, accepts: string) => ({
    metadata: { name, labels: { ...clock(frequency), [schedulable]: accepts } },
  });
  const nodes = [node("a", 3_000_000_000, "true"), node("b", 1_000_000_000, "false")];
  expect(lowestFrequency(nodes, () => false, names)).toBe(3_000_000_000);
  expect(lowestFrequency(nodes, (name) => name === "b", names)).toBe(1_000_000_000);
  expect(lowestFrequency([], () => false, names)).toBe(0);
});
