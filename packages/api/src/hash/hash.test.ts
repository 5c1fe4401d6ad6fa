import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha1 } from "./sha1.ts";
import { sha256 } from "./sha256.ts";
import { utf8 } from "./utf8.ts";

const inputs = [0, 1, 3, 55, 56, 63, 64, 65, 119, 128, 1000].map((n) => "aé".repeat(n).slice(0, n));

test.each(inputs.map((input) => [input.length, input]))(
  "hashes of %i characters equal those of node:crypto",
  (_, input) => {
    expect(sha256(input)).toBe(createHash("sha256").update(input).digest("hex"));
    expect(Buffer.from(sha1(utf8(input))).toString("hex")).toBe(
      createHash("sha1").update(input).digest("hex"),
    );
  },
);

test("UTF-8 encoding equals TextEncoder's, including lone surrogates", () => {
  for (const input of [
    "",
    "a",
    "é",
    "€",
    "😀",
    "x\ud800y",
    "\udc00",
    "\u{10ffff}",
    "\u07ff\u0800",
  ]) {
    expect([...utf8(input)]).toEqual([...new TextEncoder().encode(input)]);
  }
});
