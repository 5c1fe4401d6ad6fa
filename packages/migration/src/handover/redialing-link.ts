import type { Duplex } from "node:stream";
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

  constructor(dial: (signal?: AbortSignal) => Promise<Duplex>, options: ControlLinkOptions = {}) {
    this.#dial = dial;
    this.#options = options;
  }

  async call(method: string, params: object, options?: ControlCallOptions): Promise<unknown> {
    return await (await this.#connected(options?.signal)).call(method, params, options);
  }

  async close(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    await link?.then(
      (made) => made.close(),
      // It was never made: there is nothing to close.
      () => {},
    );
  }

  async #connected(signal: AbortSignal | undefined): Promise<ControlLink> {
    this.#link ??= this.#make(signal);
    return await this.#link;
  }

  async #make(signal: AbortSignal | undefined): Promise<ControlLink> {
    try {
      const link = new ControlLink(await this.#dial(signal), this.#options);
      void link.closed.then(() => {
        this.#link = undefined;
      });
      return link;
    } catch (error) {
      this.#link = undefined;
      throw error;
    }
  }
}
