import { expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

test.each([
  [["--wait", "ready"], "--wait needs --detach"],
  [["--detach", "--wait", "soon"], "--wait soon: use guest-running, ready, agent-connected"],
])("run %j is wrong usage", async (options, message) => {
  const { code, err } = await runVirtkit(["run", "-f", "vmi.yaml", ...options]);
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});
