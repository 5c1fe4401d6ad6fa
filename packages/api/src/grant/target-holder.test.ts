import { expect, test } from "vitest";
import { readTargetHolder, writeTargetHolder } from "./target-holder.ts";

const holder = {
  podUID: "pod",
  containerID: "containerd://1",
  node: "node02",
  machineID: "machine",
  bootID: "boot",
  nonce: "nonce",
};

test("reads back what a target's agent wrote", () => {
  const target = { migrationUID: "m1", holder };
  expect(readTargetHolder(writeTargetHolder(target))).toEqual(target);
});

test.each([
  undefined,
  "",
  "{",
  "[]",
  "null",
  '{"migrationUID":"m1"}',
  JSON.stringify({ migrationUID: 1, holder }),
  JSON.stringify({ migrationUID: "m1", holder: { ...holder, nonce: "" } }),
  JSON.stringify({ migrationUID: "m1", holder: { ...holder, more: "x" } }),
  JSON.stringify({ migrationUID: "m".repeat(5000), holder }),
])("%j names nobody", (value) => {
  expect(readTargetHolder(value)).toBeUndefined();
});
