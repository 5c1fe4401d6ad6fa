import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { launcherNodeFlags } from "./node-flags.ts";

test("the program's first line starts it with the same flags", () => {
  const program = readFileSync(new URL("../bin/virtkit-launcher.js", import.meta.url), "utf8");
  expect(program.split("\n")[0]).toBe(`#!/usr/bin/env -S node ${launcherNodeFlags.join(" ")}`);
});
