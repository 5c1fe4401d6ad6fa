import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { differingCases, type OracleCase, oracleCases, withoutWords } from "./oracle.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const recorded = (
  expected: unknown,
  input: unknown = { failCount: 1, maxDelaySeconds: 300 },
): OracleCase => ({
  name: "case",
  area: "vm-status",
  fn: "startBackoff",
  input,
  context: {},
  expected,
});

test("an answer that differs is told by the case's name and the first place that does", async () => {
  expect(await differingCases([recorded({ minSeconds: 10, maxSeconds: 15 })])).toEqual([]);
  expect(await differingCases([recorded({ minSeconds: 10, maxSeconds: 16 })])).toEqual([
    "startBackoff case: /maxSeconds is 15, not 16",
  ]);
});

test("where KubeVirt crashed an answer is wrong and a failure is right", async () => {
  expect(await differingCases([recorded({ panic: true })])).toHaveLength(1);
  const verb = { ...recorded({ panic: true }, { verb: "no-such" }), fn: "subresource" };
  expect(await differingCases([verb])).toEqual([]);
});

const request = recorded({}, { vmi: { message: "of the guest" } });

test("messages are compared by whether there is one, not by their words", () => {
  const theirs = {
    error: "no",
    syncError: { reason: "R", message: "x" },
    events: ["Normal R a b"],
  };
  const ours = { error: "never", syncError: { reason: "R", message: "y" }, events: ["Normal R c"] };
  expect(withoutWords(ours, request)).toEqual(withoutWords(theirs, request));
});

test.each([
  ["no message", { error: undefined }],
  ["an empty message", { error: "" }],
  ["a message that is no text", { error: { text: "no" } }],
  ["another event", { events: ["Normal Other a"] }],
  ["a text of the request that is not passed on", { message: "other" }],
])("%s is a difference", (_, change) => {
  const theirs = { error: "no", events: ["Normal R a"], message: "of the guest" };
  expect(withoutWords({ ...theirs, error: "never" }, request)).toEqual(
    withoutWords(theirs, request),
  );
  expect(withoutWords({ ...theirs, ...change }, request)).not.toEqual(
    withoutWords(theirs, request),
  );
});

test("an area without a folder has no cases, one with an empty folder is an error", () => {
  const root = mkdtempSync(join(tmpdir(), "oracle-"));
  try {
    vi.stubEnv("VIRTKIT_ORACLE_DIR", root);
    expect(oracleCases("quantity")).toBeUndefined();
    const folder = join(root, "quantity", "public");
    mkdirSync(folder, { recursive: true });
    expect(() => oracleCases("quantity")).toThrow("holds no recorded case");
    writeFileSync(join(folder, "one.json"), '{"name":"one"}');
    expect(oracleCases("quantity")).toEqual([{ name: "one" }]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
