import { expect, test } from "vitest";
import { formatPciAddress, hexByte, parsePciAddress, pciAddress } from "./pci-address.ts";

test("reads an address and writes it back", () => {
  const address = parsePciAddress("0000:8A:1f.7");
  expect(address).toEqual({
    type: "pci",
    domain: "0x0000",
    bus: "0x8A",
    slot: "0x1f",
    function: "0x7",
  });
  expect(formatPciAddress(address ?? {})).toBe("0000:8A:1f.7");
});

test.each(["", "81:00.0", "0000:81:00.8", "0000:81:00.0\n", "0000:81:000.0"])(
  "%j is not an address",
  (text) => {
    expect(parsePciAddress(text)).toBeUndefined();
    expect(() => pciAddress(text, "spec.x")).toThrow(expect.objectContaining({ path: "spec.x" }));
  },
);

test("a byte has two digits", () => {
  expect([hexByte(2), hexByte(31)]).toEqual(["0x02", "0x1f"]);
});
