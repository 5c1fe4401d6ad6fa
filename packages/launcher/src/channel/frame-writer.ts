import type { Writable } from "node:stream";

/** Writes frames so that everything written in one turn of the event loop leaves together. */
export class FrameWriter {
  readonly #stream: Writable;
  #corked = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Whether the other side takes what was written before; as `Writable.write` says it. */
  write(frame: Buffer): boolean {
    if (!this.#corked) {
      this.#corked = true;
      this.#stream.cork();
      queueMicrotask(() => {
        this.#corked = false;
        this.#stream.uncork();
      });
    }
    return this.#stream.write(frame);
  }
}
