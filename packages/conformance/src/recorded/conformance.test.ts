import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { batchAreas } from "../areas/areas.ts";
import { differenceOf } from "./compare-answers.ts";
import { deviations } from "./deviations.ts";
import { recordedCases } from "./recorded-cases.ts";

const cases = new URL("../../cases/", import.meta.url);
const readme = new URL("../../README.md", import.meta.url);

const recordedAreas = readdirSync(cases).flatMap((file) =>
  file.endsWith(".jsonl") ? [file.slice(0, -".jsonl".length)] : [],
);
const answered = recordedAreas.filter((area) => Object.hasOwn(batchAreas, area));

/** Cases with a different answer, by area; filled by the first test that asks. */
const differing = new Map<string, Promise<ReadonlyMap<string, string>>>();

function differencesIn(area: string): Promise<ReadonlyMap<string, string>> {
  const known = differing.get(area) ?? findDifferences(area);
  differing.set(area, known);
  return known;
}

async function findDifferences(area: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const recorded of recordedCases(area)) {
    const difference = await differenceOf(recorded);
    if (difference) found.set(recorded.name, `${recorded.fn} ${recorded.name}: ${difference}`);
  }
  return found;
}

describe("as KubeVirt answers", { timeout: 120_000 }, () => {
  test("every area of virtkit batch has recorded cases", () => {
    expect([...answered].sort()).toEqual(Object.keys(batchAreas).sort());
  });

  test.each(answered)("%s: every case but the listed deviations", async (area) => {
    const listed = deviations[area] ?? {};
    const found = await differencesIn(area);
    const unlisted = [...found].filter(([name]) => !Object.hasOwn(listed, name));
    expect(unlisted.map(([, difference]) => difference)).toEqual([]);
    // A deviation that has been fixed must not stay on the list.
    expect(Object.keys(listed).filter((name) => !found.has(name))).toEqual([]);
  });

  test("the README's table has the right number of equal answers (vitest -u writes it)", async () => {
    const rows = await Promise.all(recordedAreas.sort().map(rowOf));
    const table = ["| area | cases | equal | listed deviations |", "|---|---|---|---|", ...rows];
    const text = readFileSync(readme, "utf8");
    const [before = "", after = ""] = text.split(/(?<=<!-- table -->\n)[\s\S]*(?=<!-- end -->)/);
    await expect(`${before}${table.join("\n")}\n${after}`).toMatchFileSnapshot(readme.pathname);
  });
});

async function rowOf(area: string): Promise<string> {
  const count = recordedCases(area).length;
  if (!Object.hasOwn(batchAreas, area)) return `| \`${area}\` | ${count} | not answered yet | |`;
  const { size } = await differencesIn(area);
  return `| \`${area}\` | ${count} | ${count - size} | ${Object.keys(deviations[area] ?? {}).length} |`;
}
