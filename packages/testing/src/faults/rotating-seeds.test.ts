import { expect, test } from "vitest";
import { rotatingSeeds } from "./rotating-seeds.ts";

function draw(env: Record<string, string>, at = "2026-01-01T00:00:00Z") {
  const lines: string[] = [];
  const options = { env, wall: () => new Date(at), print: (line: string) => lines.push(line) };
  return { seeds: rotatingSeeds("demo", 3, options), lines };
}

test("seeds change over time, and are printed with the command that repeats them", () => {
  const { seeds, lines } = draw({});
  const [first = 0] = seeds;
  expect(seeds).toEqual([first, first + 1, first + 2]);
  expect(lines).toEqual([`demo: seeds ${first} to ${first + 2}; again: VIRTKIT_SEED=${first}`]);
  expect(draw({}, "2026-01-01T00:00:01Z").seeds[0]).not.toBe(first);
  expect(draw({ VIRTKIT_SEED: String(first) }, "2027-01-01T00:00:00Z").seeds).toEqual(seeds);
});

test("more seeds can be requested; a value that is not a number is ignored", () => {
  expect(draw({ VIRTKIT_SEED: "7", VIRTKIT_SEEDS: "2" }).seeds).toEqual([7, 8, 9, 10, 11, 12]);
  expect(draw({ VIRTKIT_SEED: "7", VIRTKIT_SEEDS: "many" }).seeds).toEqual([7, 8, 9]);
});
