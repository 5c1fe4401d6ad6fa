import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const listed = readFileSync(
  new URL("../../../conformance/cases/events.json", import.meta.url),
  "utf8",
);

/**
 * The event reasons in the sources of a folder: `event("Normal", "Reason", ...` or
 * `{ type: "Normal", reason: "Reason"`.
 */
function reasonsIn(folder: URL): readonly string[] {
  const files = readdirSync(folder).filter((file) => /^[a-z-]+\.ts$/.test(file));
  const called = /event\(\s*"(?:Normal|Warning)",\s*"(\w+)"/g;
  return files
    .map((file) => readFileSync(new URL(file, folder), "utf8"))
    .flatMap((source) => [...source.matchAll(called)].map(([, reason]) => reason ?? ""));
}

test("events of VMIs use KubeVirt's reasons", () => {
  const reasons = new Set([...reasonsIn(new URL(".", import.meta.url)), "NodeUnresponsive"]);
  expect(reasons.size).toBeGreaterThan(5);
  for (const reason of reasons) expect(listed).toContain(`"${reason}"`);
});
