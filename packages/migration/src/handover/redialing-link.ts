import type { Duplex } from "node:stream";
import { realClock } from "@virtkit/api/clock";
import { MigrationError } from "../migration-error.ts";
import { type ControlCallOptions, ControlLink, type ControlLinkOptions } from "./control-link.ts";
import { agreeOnVersion } from "./handover-version.ts";

/** The part of a link to the other side that is used. */
export type ControlCaller = Pick<ControlLink, "call">;

/**
 * A link that connects when it is needed, and again for the next question after a loss. A question in progress
 * still fails. Each time, both sides agree on a version before anything is asked.
 */
export class RedialingLink implements ControlCaller {
  readonly #dial: (signal?: AbortSignal) => Promise<Duplex>;
  readonly #options: ControlLinkOptions;
  #link: Promise<ControlLink> | undefined;
  #made: ControlLink | undefined;
  #version: number | undefined;

  constructor(dial: (signal?: AbortSignal) => Promise<Duplex>, options: ControlLinkOptions = {}) {
    this.#dial = dial;
    this.#options = options;
  }

  /** The version that was last agreed on; undefined before the first question. */
  get version(): number | undefined {
    return this.#version;
  }

  async call(method: string, params: object, options?: ControlCallOptions): Promise<unknown> {
    return await (await this.#connected(method, options)).call(method, params, options);
  }

  /** Closes the link. One that is being opened is closed once it is open. */
  async close(): Promise<void> {
    this.#link = undefined;
    this.#made?.close();
  }

  /** A peer that accepts no connection blocks nobody for longer than a question may take. */
  async #connected(
    method: string,
    { signal, timeout = 10_000 }: ControlCallOptions = {},
  ): Promise<ControlLink> {
    const { clock = realClock } = this.#options;
    const making = this.#link ?? this.#make(signal);
    const message = `${method} was not answered: no link within ${timeout} ms`;
    const late = new MigrationError("MIGRATION_PEER", message, { path: method });
    return await new Promise((resolve, reject) => {
      const timer = clock.setTimeout(
        () => {
          // It may be open, and nobody answers on it.
          if (this.#link === making) this.#made?.close();
          this.#forget(making);
          reject(late);
        },
        Math.min(timeout, 0x7fffffff),
      );
      making.then(resolve, reject).finally(() => clock.clearTimeout(timer));
    });
  }

  #make(signal: AbortSignal | undefined): Promise<ControlLink> {
    this.#made = undefined;
    const making = this.#dial(signal).then(async (stream): Promise<ControlLink> => {
      const link = new ControlLink(stream, this.#options);
      void link.closed.then(() => this.#forget(making));
      // Too late: nobody asks over it any longer.
      if (this.#link === making) this.#made = link;
      else link.close();
      try {
        this.#version = await agreeOnVersion(link);
        return link;
      } catch (error) {
        link.close();
        throw error;
      }
    });
    this.#link = making;
    // The caller learns about a failure; the next question dials again.
    making.catch(() => this.#forget(making));
    return making;
  }

  #forget(making: Promise<ControlLink>): void {
    if (this.#link === making) this.#link = undefined;
  }
}
