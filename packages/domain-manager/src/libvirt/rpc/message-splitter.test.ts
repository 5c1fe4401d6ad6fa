import fc from "fast-check";
import { expect, test } from "vitest";
import { headerBytes, messageLimit } from "../protocol/message.ts";
import { MessageSplitter } from "./message-splitter.ts";

function message(length: number, fill: number): Buffer {
  const bytes = Buffer.alloc(length, fill);
  bytes.writeUInt32BE(length, 0);
  return bytes;
}

test("the same messages come out, however the bytes are split", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: headerBytes, max: 200 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 }),
      (lengths, cuts) => {
        const messages = lengths.map((length, index) => message(length, index));
        const all = Buffer.concat(messages);
        const splitter = new MessageSplitter();
        const out: Buffer[] = [];
        for (let at = 0, i = 0; at < all.length; i++) {
          const next = at + (cuts[i % cuts.length] ?? 1);
          splitter.push(all.subarray(at, next), (one) => out.push(Buffer.from(one)));
          at = next;
        }
        expect(out).toEqual(messages);
        expect(splitter.incomplete).toBe(false);
      },
    ),
  );
});

test.each([0, 4, headerBytes - 1, messageLimit + 1, 0xffffffff])(
  "rejects a claimed length of %i bytes",
  (length) => {
    const bytes = Buffer.alloc(headerBytes);
    bytes.writeUInt32BE(length, 0);
    const refused = expect.objectContaining({ code: "LIBVIRT_PROTOCOL" });
    expect(() => new MessageSplitter().push(bytes, () => {})).toThrow(refused);
    const slowly = new MessageSplitter();
    slowly.push(bytes.subarray(0, 3), () => {});
    expect(() => slowly.push(bytes.subarray(3), () => {})).toThrow(refused);
  },
);

test("an incomplete message keeps only the received bytes", () => {
  const splitter = new MessageSplitter();
  const head = Buffer.alloc(headerBytes);
  head.writeUInt32BE(messageLimit, 0);
  splitter.push(head, () => expect.unreachable());
  expect(splitter.incomplete).toBe(true);
});
