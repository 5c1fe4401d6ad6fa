import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DomainStatus } from "@virtkit/domain-manager";
import { expect, onTestFinished, test } from "vitest";
import { leaveTerminationMessage, terminationMessage } from "./termination-message.ts";

const status = { state: "Crashed", reason: "Panicked" } as DomainStatus;

test("has a sentence for people and a line of JSON for programs", () => {
  expect(terminationMessage({ how: "guest-ended", status })).toBe(
    'The guest ended by itself.\n{"how":"guest-ended","state":"Crashed","reason":"Panicked"}\n',
  );
  const [text, json] = terminationMessage({ how: "launcher-failed", error: "no\nlibvirtd" }).split(
    "\n{",
  );
  expect(text).toBe("The launcher failed. no\nlibvirtd");
  expect(JSON.parse(`{${json}`)).toEqual({ how: "launcher-failed", error: "no\nlibvirtd" });
});

test("contains how the guest ended", () => {
  const end = { kind: "Killed", message: "x".repeat(600), at: "2026-01-01T00:00:00.000Z" } as const;
  const [text, json = ""] = terminationMessage({ how: "guest-ended", status, end }).split("\n");
  expect(text).toMatch(/^The guest ended: x+\.$/);
  expect(JSON.parse(json)).toMatchObject({ end: { ...end, message: "x".repeat(512) } });
});

test("is never longer than the kubelet accepts", () => {
  const long = terminationMessage({ how: "launcher-failed", error: "\u0001".repeat(10_000) });
  expect(Buffer.byteLength(long)).toBeLessThanOrEqual(4_096);
});

test("replaces an older one, and ignores a missing place", async () => {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-message-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "log");
  writeFileSync(path, "x".repeat(500));
  expect(await leaveTerminationMessage(path, { how: "never-ran" })).toBe(true);
  expect(readFileSync(path, "utf8")).toBe('No guest was started.\n{"how":"never-ran"}\n');
  expect(await leaveTerminationMessage("/nowhere/log", { how: "never-ran" })).toBe(false);
  const inDev = "/dev/virtkit-termination-log-of-a-test";
  expect(await leaveTerminationMessage(inDev, { how: "never-ran" })).toBe(false);
  expect(existsSync(inDev)).toBe(false);
});
