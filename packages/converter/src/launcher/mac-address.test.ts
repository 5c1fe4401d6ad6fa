import { expect, test } from "vitest";
import { formatMac } from "./mac-address.ts";

test.each(["02:00:00:AA:bb:cc", "02-00-00-aa-bb-cc", "0200.00aa.bbcc"])("%s is read", (text) => {
  expect(formatMac(text, "p")).toBe("02:00:00:aa:bb:cc");
});

test.each(["", "02:00:00:aa:bb", "02:00-00:aa:bb:cc", "02:00:00:aa:bb:cg"])(
  "%j is refused",
  (text) => {
    expect(() => formatMac(text, "spec.x")).toThrow(expect.objectContaining({ path: "spec.x" }));
  },
);
