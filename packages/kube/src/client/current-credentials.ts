import type { Clock } from "@virtkit/api/clock";
import type { Connection, Credentials } from "./connection.ts";

/** The credentials of a connection, read again when they may have changed; requests at one time share a read. */
export class CurrentCredentials {
  readonly #connection: Connection;
  readonly #clock: Clock;
  #read:
    | { readonly at: number; readonly credentials: Promise<Credentials>; settled?: Credentials }
    | undefined;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Those that were read and need not be read again; undefined if there are none. */
  get current(): Credentials | undefined {
    return this.#isFresh ? this.#read?.settled : undefined;
  }

  async get(): Promise<Credentials> {
    if (this.#read === undefined || !this.#isFresh) {
      this.#read = { at: this.#clock.now(), credentials: this.#connection.credentials() };
    }
    const read = this.#read;
    try {
      read.settled = await read.credentials;
      return read.settled;
    } catch (error) {
      if (this.#read === read) this.forget();
      throw error;
    }
  }

  forget(): void {
    this.#read = undefined;
  }

  get #isFresh(): boolean {
    const { credentialsLifetime = Number.POSITIVE_INFINITY } = this.#connection;
    return this.#read !== undefined && this.#clock.now() - this.#read.at < credentialsLifetime;
  }
}
