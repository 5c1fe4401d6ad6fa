import { expect, test } from "vitest";
import { base64Length } from "./base64.ts";

test("base64 text has the length of its content", () => {
  for (let length = 0; length < 50; length++) {
    const text = Buffer.alloc(length, 0xfb).toString("base64");
    expect(base64Length(text)).toEqual({ valid: true, bytes: length });
    expect(base64Length(`${text.slice(0, 3)}\r\n${text.slice(3)}`).bytes).toBe(length);
  }
});

test.each(["a", "abc", "ab==c", "====", "a===", "ab=", "-_-_", "ab cd", "é"])(
  "%j is not base64",
  (text) => {
    expect(base64Length(text).valid).toBe(false);
  },
);
