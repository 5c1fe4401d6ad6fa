import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { expect, test } from "vitest";
import { hasEnded, hasExited, identityOf, isProcessIdentity } from "./process-identity.ts";

test("a running process has not ended, and is not another one", () => {
  using self = ProcessHandle.open(process.pid);
  const identity = identityOf(self);
  expect(identity).toMatchObject({ pid: process.pid, startTime: expect.stringMatching(/^\d+$/) });
  expect(hasEnded(identity)).toBe(false);
  expect(hasExited(self)).toBe(false);
  expect(hasEnded({ ...identity, startTime: "1" })).toBe(true);
  expect(hasEnded({ ...identity, bootId: "another" })).toBe(true);
});

test("a reaped process has ended", async () => {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(child, "spawn");
  using handle = ProcessHandle.open(child.pid ?? 0);
  const identity = identityOf(handle);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(hasEnded(identity)).toBe(true);
  expect(hasExited(handle)).toBe(true);
});

test("an exited process that waits to be reaped has ended", async () => {
  // Its parent becomes a program that knows nothing about children.
  const parent = spawn("sh", ["-c", "sleep 1000 & echo $!; exec sleep 1000"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(parent.stdout, "data");
  // Until it is that program, it is a shell and reaps its children.
  const program = (): string => readFileSync(`/proc/${parent.pid}/comm`, "utf8").trim();
  await expect.poll(program, { timeout: 20_000 }).toBe("sleep");
  using handle = ProcessHandle.open(Number(String(line)));
  const identity = identityOf(handle);
  expect(hasExited(handle)).toBe(false);
  handle.signal(9);
  await expect.poll(() => hasExited(handle), { timeout: 20_000 }).toBe(true);
  expect(handle.isAlive()).toBe(true);
  expect(hasEnded(identity)).toBe(true);
  parent.kill("SIGKILL");
  await once(parent, "exit");
});

test.each([
  undefined,
  {},
  { pid: 0, startTime: "1", bootId: "b" },
  { pid: 1, startTime: 1, bootId: "b" },
  { pid: 1, startTime: "-1", bootId: "b" },
  { pid: 1, startTime: "1", bootId: "" },
])("%j is not an identity", (value) => {
  expect(isProcessIdentity(value)).toBe(false);
});
