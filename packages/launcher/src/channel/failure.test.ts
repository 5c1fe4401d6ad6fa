import { DomainManagerError } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { failureOf } from "./failure.ts";

test("passes on the text of an error that callers may see", () => {
  const error = new DomainManagerError("DOMAIN_STATE", "it is off", { path: "pause" });
  expect(failureOf(error)).toEqual({
    success: false,
    code: "DOMAIN_STATE",
    message: "it is off",
    path: "pause",
  });
  const system = Object.assign(new Error("no space"), { code: "ENOSPC", path: 7 });
  expect(failureOf(system)).toEqual({ success: false, code: "ENOSPC", message: "no space" });
});

test.each([
  new TypeError("hunter2"),
  Object.assign(new TypeError("Received 'hunter2'"), { code: "ERR_INVALID_ARG_VALUE" }),
  Object.assign(new Error("hunter2"), { code: 5 }),
  "hunter2",
  undefined,
])("keeps the text of any other error here, because it is a defect", (error) => {
  const failure = failureOf(error);
  expect(failure.code).toBe("LAUNCHER_FAILED");
  expect(JSON.stringify(failure)).not.toContain("hunter2");
});
