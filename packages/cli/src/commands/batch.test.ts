import { batchAreas } from "@virtkit/conformance";
import { expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

test("--list names every function with its area, and each of them exists", async () => {
  const { code, out } = await runVirtkit(["batch", "--list"]);
  expect(code).toBe(0);
  const listed = out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ +/));
  expect(listed).toContainEqual(["quantity", "parse"]);
  for (const [area = "", { load }] of Object.entries(batchAreas)) {
    const names = listed.filter(([first]) => first === area).map(([, name]) => name);
    expect(names).toEqual(Object.keys((await load()).functions).sort());
  }
});

test("another argument is wrong usage", async () => {
  expect(await runVirtkit(["batch", "--lists"])).toMatchObject({ code: 2 });
  expect(await runVirtkit(["batch", "quantity"])).toMatchObject({ code: 2 });
});
