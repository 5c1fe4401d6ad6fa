import { expect, test } from "vitest";
import { describeError } from "./describe-error.ts";

test("describes an error by its code, or by its name", () => {
  expect(describeError(Object.assign(new Error("full"), { code: "ENOSPC" }))).toBe("ENOSPC: full");
  expect(describeError(new TypeError("odd"))).toBe("TypeError: odd");
  expect(describeError("text")).toBe("text");
});
