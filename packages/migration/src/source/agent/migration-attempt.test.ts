import { expect, test } from "vitest";
import { beginAttempt, endAttempt } from "./migration-attempt.ts";

const now = "2026-01-01T00:00:00Z";

test("a running migration is not begun again, and a finished one is rejected", () => {
  const begun = beginAttempt(undefined, "m1", now);
  expect(beginAttempt(begun, "m1", "later")).toBe(begun);
  const ended = endAttempt(begun, { failed: false, reason: "ignored", now });
  expect(ended).not.toHaveProperty("failureReason");
  expect(() => beginAttempt(ended, "m1", now)).toThrow(
    expect.objectContaining({ code: "MIGRATION_NOT_NOW" }),
  );
  expect(beginAttempt(ended, "m2", now).uid).toBe("m2");
});

test("the first outcome stays", () => {
  const failed = endAttempt(beginAttempt(undefined, "m1", now), { failed: true, reason: "a", now });
  expect(endAttempt(failed, { failed: false, now: "later" })).toBe(failed);
});

test.each([
  ["operation aborted: migration out: canceled by client", /^the migration was aborted$/],
  [
    "x has to be  smaller or\nequal to the actual size of the containing file",
    /smaller than the one/,
  ],
  ["something else", /^something else$/],
])("libvirt's terms become ours: %s", (reason, expected) => {
  const { failureReason } = endAttempt(beginAttempt(undefined, "m1", now), {
    failed: true,
    reason,
    now,
  });
  expect(failureReason).toMatch(expected);
});
