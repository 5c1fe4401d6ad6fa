import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockState } from "./agent-lock.ts";

test("a second agent does not get the first one's state directory until the first has ended", () => {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-lock-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  {
    using _ = lockState(join(directory, "state"));
    expect(() => lockState(join(directory, "state"))).toThrow(
      expect.objectContaining({ code: "AGENT_LOCKED" }),
    );
    using __ = lockState(join(directory, "other"));
  }
  using ___ = lockState(join(directory, "state"));
});
