import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { differingCases, type OracleCase, oracleCases } from "./oracle.ts";

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
