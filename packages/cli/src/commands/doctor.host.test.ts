import { expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

test("doctor finds what the host tier has installed, and says what to do next", async () => {
  const { code, out } = await runVirtkit(["doctor"]);
  expect(out).not.toContain("MISSING");
  expect(out).toMatch(/^ {2}libvirtd +ok +\/.*libvirtd$/m);
  expect(out).toMatch(/^ {2}KVM +(ok|slow) /m);
  expect(out).toContain("Next: virtkit run -f vmi.yaml");
  expect(code).toBe(0);
});
