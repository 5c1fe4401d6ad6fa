import { expect, test } from "vitest";
import { functions } from "./admission.ts";

test("answers a request of any shape", () => {
  for (const input of [undefined, null, 1, "x", [], {}, { kind: "VirtualMachine", object: 7 }]) {
    expect(functions["admit"]?.(input, undefined)).toMatchObject({ allowed: false });
  }
});
