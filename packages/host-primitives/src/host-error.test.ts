import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HostError, hasErrno, isHostError } from "./host-error.ts";

test("an error of Node's file functions keeps its errno and syscall", () => {
  try {
    readFileSync("/nonexistent/file");
  } catch (cause) {
    const error = HostError.from(cause, "the file");
    expect(error).toMatchObject({ errno: "ENOENT", syscall: "open", path: "the file", cause });
    expect(hasErrno(error, "EPERM", "ENOENT")).toBe(true);
    expect(HostError.from(error, "elsewhere")).toBe(error);
  }
});

test("turns any thrown value into an error that says what was touched", () => {
  expect(HostError.from("odd", "the file").message).toBe("the file: odd");
  expect(HostError.from(undefined, "the file").path).toBe("the file");
});

test("recognizes errors by name", () => {
  expect(isHostError(new HostError("HOST_CLOSED", "x"))).toBe(true);
  expect(isHostError(new Error("x"))).toBe(false);
  expect(hasErrno(new Error("ENOENT"), "ENOENT")).toBe(false);
});
