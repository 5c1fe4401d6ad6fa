import { readFileSync } from "node:fs";
import { guards } from "@virtkit/api/grant";
import { expect, test } from "vitest";
import { partGuards } from "./part-guards.ts";

test("the page on at most one copy lists every guard and what happens without it", () => {
  const note = readFileSync(
    new URL("../../../../docs/at-most-one-copy.md", import.meta.url),
    "utf8",
  );
  const rows = [...note.matchAll(/^\| `([a-z-]+)`: (.+?) \| .+ \| \d+ \|$/gm)];
  const listed = Object.fromEntries(rows.map(([, name, says]) => [name, says]));
  expect(listed).toEqual({ ...guards, ...partGuards });
});
