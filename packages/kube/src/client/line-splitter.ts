import { KubeError } from "./kube-error.ts";

const newline = 10;

/** Cuts bytes into lines, none longer than a limit. */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether a line has begun and not ended. */
  get isInLine(): boolean {
    return this.#pendingBytes > 0;
  }

  /** The lines that end in this chunk, without empty ones. */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#check(end - start);
      const line = this.#join(chunk, start, end);
      start = end + 1;
      if (line !== "") yield line;
    }
    if (start === chunk.length) return;
    this.#check(chunk.length - start);
    this.#pending.push(chunk.subarray(start));
    this.#pendingBytes += chunk.length - start;
  }

  #join(chunk: Buffer, start: number, end: number): string {
    if (this.#pendingBytes === 0) return chunk.toString("utf8", start, end);
    // Joined before they are decoded: a character may be cut in two.
    const line = Buffer.concat([...this.#pending, chunk.subarray(start, end)]).toString("utf8");
    this.#pending.length = 0;
    this.#pendingBytes = 0;
    return line;
  }

  #check(more: number): void {
    if (this.#pendingBytes + more <= this.#maxBytes) return;
    throw new KubeError(
      "KUBE_ANSWER_INVALID",
      `a line of the watch is longer than ${this.#maxBytes} bytes; raise maxLineBytes to allow it`,
      { path: "maxLineBytes" },
    );
  }
}
