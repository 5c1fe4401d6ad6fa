/** A field of a message: its number, and a string, a boolean, an integer of at least 0, or another message. */
export type ProtobufField = readonly [
  number: number,
  value: string | boolean | number | Uint8Array,
];

/** Encodes fields in the wire format of Protocol Buffers. A field may come more than once. */
export function encodeMessage(fields: readonly ProtobufField[]): Buffer {
  const parts = fields.flatMap(([number, value]) => {
    if (typeof value === "boolean" || typeof value === "number") {
      return [varint(number << 3), varint(Number(value))];
    }
    const bytes = Buffer.from(value as Uint8Array);
    return [varint((number << 3) | 2), varint(bytes.length), bytes];
  });
  return Buffer.concat(parts);
}

/**
 * The fields of a message that have a length: strings, bytes and messages. Numbers are skipped.
 *
 * @throws RangeError if the bytes are not a message.
 */
export function decodeMessage(bytes: Uint8Array): [number: number, value: Uint8Array][] {
  const fields: [number, Uint8Array][] = [];
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new RangeError("the message ends within a field");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (): number => {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 35; factor *= 128) {
      const [byte = 0] = take(1);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError("a number in the message is too long");
  };
  while (at < bytes.length) {
    const tag = number();
    const kind = tag % 8;
    if (kind === 0) number();
    else if (kind === 1) take(8);
    else if (kind === 5) take(4);
    else if (kind === 2) fields.push([Math.floor(tag / 8), take(number())]);
    else throw new RangeError(`the message has a field of unknown kind ${kind}`);
  }
  return fields;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
