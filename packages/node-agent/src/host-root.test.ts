import { expect, test } from "vitest";
import { openHostRoot } from "./host-root.ts";

test("the root of a process opens like a directory", () => {
  for (const path of [`/proc/${process.pid}/root`, "/"]) {
    using root = openHostRoot(path);
    using device = root.resolve("/dev/null", "char");
    expect(device.description).toContain("/dev/null");
  }
});
