import { expect, test } from "vitest";
import { analyse } from "./analysis.ts";
import { sample } from "./sample.ts";

function linesOfProblems(from: string | RegExp, to: string): number[] {
  return analyse(sample.replace(from, to)).problems.map(({ line }) => line);
}

test("the sample is sound, and each part of its domain knows its lines", () => {
  const { problems, explanation, linesOf } = analyse(sample);
  expect(problems).toEqual([]);
  const cores = explanation?.nodes.find(({ path }) => path === "cpu.topology.@cores");
  expect(cores && linesOf(cores)).toEqual([9]);
});

test.each([
  ["a field of the wrong type", "bus: virtio", "bus: 5", [16]],
  ["a field that nobody knows", "cores: 1", "core: 1", [9]],
  ["what admission refuses", "bus: virtio", "bus: warp", [16]],
  ["text that is no YAML", "spec:", "spec: ]", [6]],
  ["another kind of object", "kind: VirtualMachineInstance", "kind: Pod", [2]],
])("%s is shown at its line", (_, from, to, lines) => {
  expect(linesOfProblems(from, to)).toEqual(lines);
});

test.each(["", "- a", "5", "a: &a [*a]", "\u0000", "? {}: x"])("takes any text: %j", (text) => {
  expect(analyse(text).explanation).toBeUndefined();
});
