import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { analyse } from "./analysis.ts";
import { sample } from "./sample.ts";

function linesOfProblems(from: string | RegExp, to: string): number[] {
  return analyse(sample.replace(from, to)).problems.map(({ line }) => line);
}

test("the sample is valid, and each part of its domain knows its lines", () => {
  const { problems, explanation, linesOf } = analyse(sample);
  expect(problems).toEqual([]);
  const cores = explanation?.nodes.find(({ path }) => path === "cpu.topology.@cores");
  expect(cores && linesOf(cores)).toEqual([9]);
});

test.each([
  ["a field of the wrong type", "bus: virtio", "bus: 5", [16]],
  ["an unknown field", "cores: 1", "core: 1", [9]],
  ["a value that admission refuses", "bus: virtio", "bus: warp", [16]],
  ["text that is not YAML", "spec:", "spec: ]", [6]],
  ["another kind of object", "kind: VirtualMachineInstance", "kind: Pod", [2]],
])("shows %s at its line", (_, from, to, lines) => {
  expect(linesOfProblems(from, to)).toEqual(lines);
});

/** Ten lines that stand for ten billion values. */
const bomb = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
  .concat(Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(10)}]`))
  .join("\n");

test("refuses aliases that stand for more than can be held at once, with the command line's message", () => {
  const { problems, explanation } = analyse(bomb);
  expect(explanation).toBeUndefined();
  const words = "the document holds more than 500000 values; aliases count each time";
  expect(problems).toEqual([{ line: expect.any(Number), message: words }]);
  // Control: the parser alone throws, which used to end the page.
  expect(() => parseDocument(bomb).toJS({ maxAliasCount: 100 })).toThrow();
});

test("shows a field from an alias where it stands", () => {
  const text = sample
    .replace("metadata:", "x: &bus { bus: 5 }\nmetadata:")
    .replace(/disk:\n +bus: virtio/, "disk: *bus");
  expect(analyse(text).problems.map(({ line }) => line)).toContain(3);
});

test.each(["", "- a", "5", "a: &a [*a]", "\u0000", "? {}: x"])("accepts any text: %j", (text) => {
  expect(analyse(text).explanation).toBeUndefined();
});
