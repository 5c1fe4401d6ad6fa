import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { limitControllers, requireLimitControllers } from "./limit-controllers.ts";

function unifiedWith(controllers: string): string {
  const unified = mkdtempSync(join(tmpdir(), "virtkit-unified-"));
  onTestFinished(() => rmSync(unified, { recursive: true, force: true }));
  writeFileSync(join(unified, "cgroup.controllers"), `${controllers}\n`);
  return unified;
}

test("uses version 1 for the controllers that it has, and version 2 for the rest", () => {
  const unified = unifiedWith("cpuset memory pids");
  const layout = { mode: "hybrid", unified, controllers: { cpu: "/cpu", memory: "/memory" } };
  expect(limitControllers({ ...layout, mode: "hybrid" })).toEqual({ cpu: 1, memory: 1, pids: 2 });
});

test("rejects a host without working limits, with the controller and what to do", () => {
  const unified = unifiedWith("cpuset cpu pids");
  const found = limitControllers({ mode: "v2", unified, controllers: {} });
  expect(() => requireLimitControllers(found)).toThrow(
    expect.objectContaining({
      code: "AGENT_SANDBOX",
      path: "memory",
      message: expect.stringContaining("cgroup_enable=memory"),
    }),
  );
  expect(() => requireLimitControllers({ ...found, memory: 2 })).not.toThrow();
});
