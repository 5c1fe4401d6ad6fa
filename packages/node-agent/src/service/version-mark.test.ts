import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { VersionMark } from "./version-mark.ts";

test("an API server older than what this node has seen is recognised, also by the next agent", () => {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-mark-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const mark = new VersionMark(directory);
  mark.check("5");
  expect(mark.isNew("100")).toBe(true);
  mark.note("100");
  mark.note("99");
  for (const each of [mark, new VersionMark(directory)]) {
    expect(() => each.check("99")).toThrow(expect.objectContaining({ code: "AGENT_CLAIM_HELD" }));
    each.check("100");
    // Versions are numbers, of whatever length.
    each.check("1000");
    expect(each.isNew("100")).toBe(false);
  }
});
