/**
 * Just enough DER to write a certificate request: a tag, a length, the content. Node cannot write requests, and
 * the library that signs certificates takes 17 MB of memory in every process that loads it.
 */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body), body]);
}

/** The tags that a request needs. */
export const derTags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  /** `[0]` of a structure, with parts. */
  first: 0xa0,
  /** A URI among names. */
  uri: 0x86,
} as const;

/** An object identifier, such as `2.5.29.17`. */
export function derObjectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return der(derTags.objectId, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Seven bits per byte, the highest first; the top bit of every byte but the last is set. */
function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) {
    bytes.unshift((left % 128) + 128);
  }
  return bytes;
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  return Buffer.from([0x82, length >> 8, length & 0xff]);
}
