import { expect, test } from "vitest";
import { convert } from "./convert.ts";
import { domainFor } from "./domain-for.ts";

test.each([
  ["domainFor", (vmi: never) => domainFor(vmi)],
  ["convert", (vmi: never) => convert(vmi, { architecture: "amd64" })],
])("%s names the malformed field once", (_, make) => {
  expect(() => make({ spec: 7 } as never)).toThrow(
    expect.objectContaining({
      code: "CONVERTER_VMI_MALFORMED",
      path: "spec",
      message: "spec: must be an object; found the number 7",
    }),
  );
});
