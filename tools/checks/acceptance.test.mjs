import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const text = readFileSync(path.join(root, "docs/acceptance.md"), "utf8");

/** The rows of the tables: what, the test's name, its file. */
const rows = text
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.endsWith("` |"))
  .map((line) => {
    const [what = "", name = "", file = ""] = line.slice(2, -2).split(" | ");
    return { what, name, file: file.replaceAll("`", "") };
  });

/** @param {{ name: string, file: string }} row */
function isThere({ name, file }) {
  const full = path.join(root, file);
  return existsSync(full) && readFileSync(full, "utf8").includes(`"${name}"`);
}

test("every test that docs/acceptance.md names exists", () => {
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => !isThere(row))).toEqual([]);
});

test("control: a test that does not exist is missed", () => {
  const [row] = rows;
  expect(isThere({ name: `${row?.name} not`, file: row?.file ?? "" })).toBe(false);
  expect(isThere({ name: row?.name ?? "", file: "tools/nowhere.test.mjs" })).toBe(false);
});
