import { expect, test } from "vitest";
import { functions } from "./admission.ts";

test("a request of any shape gets an answer", () => {
  for (const input of [undefined, null, 1, "x", [], {}, { kind: "VirtualMachine", object: 7 }]) {
    expect(functions["admit"]?.(input, undefined)).toMatchObject({ allowed: false });
  }
});
