import { expect, test } from "vitest";
import { functions } from "./migration-admission.ts";

test("answers an input of any shape", () => {
  for (const run of Object.values(functions)) {
    for (const input of [undefined, null, 1, "x", [], {}, { vmi: 7, object: 7 }]) {
      expect(run(input, undefined)).toBeTypeOf("object");
    }
  }
});
