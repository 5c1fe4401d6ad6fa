import { expect, test } from "vitest";
import { parseDocument } from "yaml";
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

/** Ten lines that stand for ten billion values. */
const bomb = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
  .concat(Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]`))
  .join("\n");

test("aliases that stand for more than can be held are refused at once, in the words of the command line", () => {
  const { problems, explanation } = analyse(bomb);
  expect(explanation).toBeUndefined();
  const words = "the document holds more than 500000 values; aliases count each time";
  expect(problems).toEqual([{ line: expect.any(Number), message: words }]);
  // The control: the parser alone throws, which ended the page.
  expect(() => parseDocument(bomb).toJS({ maxAliasCount: 100 })).toThrow();
});

test("a field that an alias brings is shown where it stands", () => {
  const text = sample
    .replace("metadata:", "x: &bus { bus: 5 }\nmetadata:")
    .replace(/disk:\n +bus: virtio/, "disk: *bus");
  expect(analyse(text).problems.map(({ line }) => line)).toContain(3);
});

test.each(["", "- a", "5", "a: &a [*a]", "\u0000", "? {}: x"])("takes any text: %j", (text) => {
  expect(analyse(text).explanation).toBeUndefined();
});
