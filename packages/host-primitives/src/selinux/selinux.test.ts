import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allocateLevel } from "./allocate-level.ts";
import {
  formatSelinuxContext,
  parseSelinuxContext,
  unprivilegedFileContext,
} from "./selinux-context.ts";
import { selinuxModeOf, selinuxState } from "./selinux-state.ts";

test("reads and writes a context with its level", () => {
  const context = parseSelinuxContext("system_u:system_r:container_t:s0:c1,c2\0");
  expect(context).toEqual({
    user: "system_u",
    role: "system_r",
    type: "container_t",
    level: "s0:c1,c2",
  });
  expect(formatSelinuxContext(context)).toBe("system_u:system_r:container_t:s0:c1,c2");
  expect(formatSelinuxContext({ user: "u", role: "r", type: "t" })).toBe("u:r:t");
  expect(formatSelinuxContext(unprivilegedFileContext)).toBe(
    "system_u:object_r:container_file_t:s0",
  );
});

test.each(["", "a:b", "a b:c:d", "a:b:c:", "a:b:c:s0 x", "kernel"])(
  "rejects %j as a context",
  (text) => {
    expect(() => parseSelinuxContext(text)).toThrow(
      expect.objectContaining({ code: "HOST_FORMAT_INVALID" }),
    );
  },
);

test("rejects a part with a colon, which would shift the others", () => {
  expect(() => formatSelinuxContext({ user: "a", role: "b", type: "c:d" })).toThrow(/ambiguous/);
});

test.each([
  ["1\n", "enforcing"],
  ["0", "permissive"],
  [undefined, "disabled"],
])("the kernel's file with %j means %s", (content, state) => {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-selinux-"));
  if (content !== undefined) writeFileSync(join(directory, "enforce"), content);
  expect(selinuxState({ directory })).toBe(state);
  rmSync(directory, { recursive: true });
});

test.each([
  ["enforcing\n", true, false],
  ["permissive\n", true, true],
  ["disabled", false, false],
  ["Disabled\n", true, false],
  ["", true, false],
])("the helper's word %j means present: %s, permissive: %s", (output, present, permissive) => {
  expect(selinuxModeOf(output)).toEqual({ mode: output.trim(), present, permissive });
});

test("never allocates a level twice, until none is left", () => {
  const used: string[] = [];
  for (let n = 0; n < 10; n++) used.push(allocateLevel(used, { categories: 5 }));
  expect(new Set(used).size).toBe(10);
  for (const level of used) expect(level).toMatch(/^s0:c[0-3],c[1-4]$/);
  expect(() => allocateLevel(used, { categories: 5 })).toThrow(
    expect.objectContaining({ code: "HOST_LIMIT_EXCEEDED" }),
  );
});

test("ignores the order of categories; other levels occupy no pair", () => {
  const random = () => 0;
  expect(allocateLevel([], { random })).toBe("s0:c0,c1");
  expect(allocateLevel(["s0:c1,c0", "s0", "s0:c5,c5", "s0:c0,c9999"], { random })).toBe("s0:c0,c2");
  expect(allocateLevel([], { random: () => 0.999_999_99 })).toBe("s0:c1022,c1023");
});
