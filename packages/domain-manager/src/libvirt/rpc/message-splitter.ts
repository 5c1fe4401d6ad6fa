import { headerBytes, messageLimit } from "../protocol/message.ts";
import { malformed } from "../xdr/xdr-reader.ts";

/**
 * Splits the bytes of a socket into messages.
 *
 * A length that the protocol does not allow throws before anything is allocated for it; an
 * incomplete message keeps only the received bytes.
 */
export class MessageSplitter {
  #parts: Buffer[] = [];
  #have = 0;

  /** Whether a message has begun but not ended. */
  get incomplete(): boolean {
    return this.#have > 0;
  }

  /**
   * Takes received bytes, and delivers each message that is now complete. The caller may reuse the
   * chunk's memory afterwards; a message is valid only while it is delivered.
   */
  push(chunk: Buffer, onMessage: (message: Buffer) => void): void {
    let rest = chunk;
    if (this.#have > 0) {
      this.#parts.push(Buffer.from(chunk));
      this.#have += chunk.length;
      if (this.#have < 4) return;
      if (this.#have < lengthOf(this.#head())) return;
      rest = Buffer.concat(this.#parts, this.#have);
      this.#parts = [];
      this.#have = 0;
    }
    while (rest.length >= 4) {
      const length = lengthOf(rest);
      if (rest.length < length) break;
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    if (rest.length > 0) {
      this.#parts = [Buffer.from(rest)];
      this.#have = rest.length;
    }
  }

  /** The first part holds the length word, or is made to. */
  #head(): Buffer {
    const [first] = this.#parts;
    if (first && first.length >= 4) return first;
    const head = Buffer.concat(this.#parts, this.#have);
    this.#parts = [head];
    return head;
  }
}

function lengthOf(message: Buffer): number {
  const length = message.readUInt32BE(0);
  if (length < headerBytes || length > messageLimit) {
    throw malformed(
      `a message claims ${length} bytes; ${headerBytes} to ${messageLimit} are allowed`,
    );
  }
  return length;
}
