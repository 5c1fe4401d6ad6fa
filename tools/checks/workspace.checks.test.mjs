import { expect, test } from "vitest";
import { root } from "../setup.mjs";
import { checks } from "./checks.mjs";

test.each(Object.entries(checks))("the workspace passes: %s", async (_, check) => {
  const { ok, output } = await check(root);
  expect(ok, output).toBe(true);
});
