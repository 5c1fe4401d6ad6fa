import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const mains = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".mjs"));

test("there are mains", () => {
  expect(mains.length).toBeGreaterThanOrEqual(4);
});

test.each(mains)("%s has fewer than 80 lines: what others can reuse is in a package", (main) => {
  const lines = readFileSync(`${import.meta.dirname}/${main}`, "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.length).toBeLessThan(80);
});
