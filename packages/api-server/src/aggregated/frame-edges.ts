/**
 * Finds where WebSocket frames begin and end in a stream of bytes, from their headers alone: payload is counted,
 * not inspected. Another frame, such as a ping, may be inserted between two frames.
 */
export class FrameEdges {
  /** Bytes of payload still to come. */
  #rest = 0;
  /** The header of the current frame, as far as it has arrived. */
  readonly #head = Buffer.alloc(14);
  #seen = 0;

  /** Whether the last byte that passed was the last of a frame. */
  get atEdge(): boolean {
    return this.#rest === 0 && this.#seen === 0;
  }

  /** Records bytes that pass. */
  pass(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#rest > 0) {
        const skipped = Math.min(this.#rest, chunk.length - at);
        this.#rest -= skipped;
        at += skipped;
        continue;
      }
      this.#head[this.#seen++] = chunk[at++] as number;
      const length = this.#length();
      if (length === undefined) continue;
      this.#rest = length;
      this.#seen = 0;
    }
  }

  /** The length of the payload, once the header is complete. */
  #length(): number | undefined {
    if (this.#seen < 2) return undefined;
    const second = this.#head[1] as number;
    const mask = second & 0x80 ? 4 : 0;
    const short = second & 0x7f;
    const size = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + mask;
    if (this.#seen < size) return undefined;
    if (short === 126) return this.#head.readUInt16BE(2);
    return short === 127 ? Number(this.#head.readBigUInt64BE(2)) : short;
  }
}

/** A ping without payload, as a server sends it. */
export const pingFrame: Uint8Array = Uint8Array.of(0x89, 0);
