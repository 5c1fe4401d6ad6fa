import { closeSync } from "node:fs";
import { HostError } from "./host-error.ts";

/**
 * A descriptor with one owner. `close()` or the end of a `using` block closes it; a second close
 * does nothing. Use after that throws `HOST_CLOSED` instead of touching someone else's descriptor.
 */
export class OwnedFd implements Disposable {
  /** What the descriptor refers to, for messages. */
  readonly what: string;
  #fd: number;

  constructor(fd: number, what: string) {
    this.#fd = fd;
    this.what = what;
  }

  /** The number, for a call that does not keep it. */
  get fd(): number {
    if (this.#fd >= 0) return this.#fd;
    const message = `${this.what} is closed; keep its owner alive while it is in use`;
    throw new HostError("HOST_CLOSED", message, { path: this.what });
  }

  get closed(): boolean {
    return this.#fd < 0;
  }

  /** Path by which this process, and only this one, reaches exactly this object. */
  get procPath(): string {
    return `/proc/self/fd/${this.fd}`;
  }

  /** Gives the number away: the caller must close it, and this object counts as closed. */
  release(): number {
    const fd = this.fd;
    this.#fd = -1;
    return fd;
  }

  close(): void {
    if (this.#fd < 0) return;
    const fd = this.#fd;
    this.#fd = -1;
    closeSync(fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
