import { expect, test } from "vitest";
import { decodeMessage, encodeMessage } from "./protobuf-message.ts";

test("strings, booleans and messages are encoded like protoc does", () => {
  // protoc --encode: 1: "kvm", 2: true, 3 { 1: "x" }
  const message = encodeMessage([
    [1, "kvm"],
    [2, true],
    [3, encodeMessage([[1, "x"]])],
  ]);
  expect(message.toString("hex")).toBe("0a036b766d10011a030a0178");
});

test("integers are encoded like protoc does", () => {
  // protoc --encode: 3 { 1 { 1: 300 } }
  const nodes = encodeMessage([[1, encodeMessage([[1, 300]])]]);
  expect(encodeMessage([[3, nodes]]).toString("hex")).toBe("1a050a0308ac02");
});

test("decodes what it encodes, including long values and repeated fields, and skips numbers", () => {
  const long = "x".repeat(300);
  const bytes = encodeMessage([
    [1, long],
    [2, false],
    [1, "é"],
    [20, ""],
  ]);
  const decoded = decodeMessage(bytes).map(([number, value]) => [
    number,
    Buffer.from(value).toString(),
  ]);
  expect(decoded).toEqual([
    [1, long],
    [1, "é"],
    [20, ""],
  ]);
});

test.each([
  ["a length beyond the end", "0a05abcd"],
  ["a number that never ends", "0affffffffffffffff"],
  ["a group", "0b"],
])("%s is rejected", (_, hex) => {
  expect(() => decodeMessage(Buffer.from(hex, "hex"))).toThrow(RangeError);
});
