import type { Duplex } from "node:stream";
import { realClock } from "@virtkit/api/clock";
import { MigrationError } from "../migration-error.ts";
import { type ControlCallOptions, ControlLink, type ControlLinkOptions } from "./control-link.ts";

/** What is called of a link to the other side. */
export type ControlCaller = Pick<ControlLink, "call">;

/**
 * A link that is made when it is needed, and made anew for the next question after it was lost. A question
 * that was under way fails all the same.
 */
export class RedialingLink implements ControlCaller {
  readonly #dial: (signal?: AbortSignal) => Promise<Duplex>;
  readonly #options: ControlLinkOptions;
  #link: Promise<ControlLink> | undefined;
  #made: ControlLink | undefined;

  constructor(dial: (signal?: AbortSignal) => Promise<Duplex>, options: ControlLinkOptions = {}) {
    this.#dial = dial;
    this.#options = options;
  }

  async call(method: string, params: object, options?: ControlCallOptions): Promise<unknown> {
    return await (await this.#connected(method, options)).call(method, params, options);
  }

  /** Ends the link. One that is just being made ends when it is. */
  async close(): Promise<void> {
    this.#link = undefined;
    this.#made?.close();
  }

  /** A peer that takes no connection keeps nobody waiting for longer than a question may take. */
  async #connected(
    method: string,
    { signal, timeout = 10_000 }: ControlCallOptions = {},
  ): Promise<ControlLink> {
    const { clock = realClock } = this.#options;
    const making = this.#link ?? this.#make(signal);
    const message = `${method} was not answered: no link in ${timeout} ms`;
    const late = new MigrationError("MIGRATION_PEER", message, { path: method });
    return await new Promise((resolve, reject) => {
      const timer = clock.setTimeout(
        () => {
          this.#forget(making);
          reject(late);
        },
        Math.min(timeout, 0x7fffffff),
      );
      making.then(resolve, reject).finally(() => clock.clearTimeout(timer));
    });
  }

  #make(signal: AbortSignal | undefined): Promise<ControlLink> {
    const making = this.#dial(signal).then((stream) => new ControlLink(stream, this.#options));
    this.#link = making;
    // Whoever asked hears of a failure; the next question dials again.
    making.then(
      (link) => {
        // It came too late: nobody asks over it any more.
        if (this.#link !== making) return link.close();
        this.#made = link;
        void link.closed.then(() => this.#forget(making));
      },
      () => this.#forget(making),
    );
    return making;
  }

  #forget(making: Promise<ControlLink>): void {
    if (this.#link === making) this.#link = undefined;
  }
}
