import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase64 } from "./decode-base64.ts";

test("decodes what was encoded, with line breaks anywhere", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.integer({ min: 1, max: 80 }),
      (bytes, width) => {
        const text = Buffer.from(bytes).toString("base64");
        const broken = text.replace(new RegExp(`(.{${width}})`, "g"), "$1\r\n");
        for (const form of [text, broken]) {
          const result = decodeBase64(form);
          expect("bytes" in result && Buffer.from(result.bytes).toString("hex")).toBe(
            Buffer.from(bytes).toString("hex"),
          );
        }
      },
    ),
  );
});

test.each([
  ["@@@", 0],
  ["====", 0],
  ["A", 0],
  ["QQ", 0],
  ["QUJDRA", 4],
  ["QQ=", 3],
  ["QQ=x", 2],
  ["QQ==\nx", 5],
  ["QUI=QUI=", 4],
  ["QUJD€", 4],
  ["QUJ D", 3],
  ["QUJDQ=", 5],
])("%j stops being base64 at byte %d", (text, fault) => {
  expect(decodeBase64(text)).toEqual({ fault });
});
