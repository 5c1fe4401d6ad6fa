import type { Clock } from "@virtkit/api/clock";
import type { Connection, Credentials } from "./connection.ts";

/** The credentials of a connection, read again when they may have changed; requests at one time share a read. */
export class CurrentCredentials {
  readonly #connection: Connection;
  readonly #clock: Clock;
  #read: { readonly at: number; readonly credentials: Promise<Credentials> } | undefined;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  async get(): Promise<Credentials> {
    const { credentialsLifetime = Number.POSITIVE_INFINITY } = this.#connection;
    const now = this.#clock.now();
    if (this.#read === undefined || now - this.#read.at >= credentialsLifetime) {
      this.#read = { at: now, credentials: this.#connection.credentials() };
    }
    const read = this.#read;
    try {
      return await read.credentials;
    } catch (error) {
      if (this.#read === read) this.forget();
      throw error;
    }
  }

  forget(): void {
    this.#read = undefined;
  }
}
