import { expect, test } from "vitest";
import { runInGuest } from "./run-in-guest.ts";

test("runs a guest's script with its files and nothing mounted, and returns its output", async () => {
  const files = [{ path: "greeting", kind: "file" as const, data: "hello\n" }];
  const script = "cat /greeting; ls /proc | wc -l";
  expect(await runInGuest({ script, files })).toBe("hello\n0");
});

test("fails for a script that fails, and for a guest that does not finish", async () => {
  await expect(runInGuest({ script: "echo so far; exit 3" })).rejects.toThrow(
    /exits with 3[\s\S]*so far/,
  );
  await expect(runInGuest({ script: "sleep 1000", timeout: 1_000 })).rejects.toMatchObject({
    code: "LAB_PROGRAM_FAILED",
  });
});
