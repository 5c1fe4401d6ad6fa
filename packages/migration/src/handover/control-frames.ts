import { isObject, type JsonObject } from "@virtkit/api/shape";
import { MigrationError } from "../migration-error.ts";

/** Maximum size of a message in bytes: room for a domain's XML, libvirt's cookie and more. */
export const frameLimit: number = 8 * 1024 * 1024;
const wordBytes = 4;

/** A message as bytes: its length, then JSON. */
export function encodeFrame(message: object): Buffer {
  const json = Buffer.from(JSON.stringify(message), "utf8");
  if (json.length > frameLimit) throw tooLong(json.length);
  const frame = Buffer.allocUnsafe(wordBytes + json.length);
  frame.writeUInt32BE(json.length, 0);
  json.copy(frame, wordBytes);
  return frame;
}

/**
 * Splits what a peer sends into messages. Memory grows with what has arrived, not with what was announced. Throws
 * for anything that is not a message; the stream is then unusable.
 */
export class FrameReader {
  #chunks: Buffer[] = [];
  #have = 0;

  push(chunk: Buffer, onMessage: (message: JsonObject) => void): void {
    this.#add(chunk);
    for (let length = this.#nextLength(); length !== undefined; length = this.#nextLength()) {
      const all = this.#joined();
      this.#keep(all.subarray(wordBytes + length));
      onMessage(parse(all.toString("utf8", wordBytes, wordBytes + length)));
    }
  }

  /** Forgets what has arrived of a message that will never be complete. */
  drop(): void {
    this.#keep(Buffer.alloc(0));
  }

  /**
   * Short pieces are joined as they arrive, so that a peer that sends byte by byte costs no more than its bytes.
   */
  #add(chunk: Buffer): void {
    this.#have += chunk.length;
    let last = chunk;
    while (last.length >= (this.#chunks.at(-1)?.length ?? Number.POSITIVE_INFINITY)) {
      last = Buffer.concat([this.#chunks.pop() ?? last, last]);
    }
    this.#chunks.push(last);
  }

  /** Size of the first message, once it is complete. */
  #nextLength(): number | undefined {
    if (this.#have < wordBytes) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < wordBytes) this.#keep(this.#joined());
    const length = this.#chunks[0]?.readUInt32BE(0) ?? 0;
    if (length > frameLimit) throw tooLong(length);
    return this.#have >= wordBytes + length ? length : undefined;
  }

  #joined(): Buffer {
    return this.#chunks.length === 1 && this.#chunks[0]
      ? this.#chunks[0]
      : Buffer.concat(this.#chunks);
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#have = rest.length;
  }
}

function parse(text: string): JsonObject {
  try {
    const message: unknown = JSON.parse(text);
    if (isObject(message)) return message;
  } catch (cause) {
    throw new MigrationError("MIGRATION_PEER", "the peer sent something that is not JSON", {
      cause,
    });
  }
  throw new MigrationError("MIGRATION_PEER", "the peer sent JSON that is not an object");
}

function tooLong(length: number): MigrationError {
  const message = `a message of ${length} bytes is too long; at most ${frameLimit} are allowed`;
  return new MigrationError("MIGRATION_PEER", message);
}
