import type { Duplex } from "node:stream";
import { type Clock, realClock } from "@virtkit/api/clock";
import type { JsonObject } from "@virtkit/api/shape";
import { isMigrationError, MigrationError, type MigrationErrorCode } from "../migration-error.ts";
import { encodeFrame, FrameReader } from "./control-frames.ts";

/** Carries out what the peer asks for. */
export type ControlHandler = (method: string, params: unknown) => Promise<object | undefined>;

/** How long a question may take. */
export interface ControlCallOptions {
  /** Milliseconds; 10 s by default. */
  readonly timeout?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Who answers on this side, and the clock. */
export interface ControlLinkOptions {
  readonly handler?: ControlHandler;
  readonly clock?: Clock;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** How many of a peer's questions are handled at a time; more end the link. */
const mostServed = 16;
const codes: readonly MigrationErrorCode[] = [
  "MIGRATION_REFUSED",
  "MIGRATION_PHASE_FAILED",
  "MIGRATION_INPUT_INVALID",
  "MIGRATION_DECISION_INVALID",
];

/**
 * Questions and answers between the launchers of a migration, over any byte stream. Both sides may ask. A lost link
 * fails every open question, because nobody knows whether it was carried out.
 */
export class ControlLink {
  /** Settles when the link has ended. */
  readonly closed: Promise<void>;
  readonly #stream: Duplex;
  readonly #handler: ControlHandler;
  readonly #clock: Clock;
  readonly #reader = new FrameReader();
  readonly #pending = new Map<number, Pending>();
  #next = 1;
  #served = 0;
  #end: MigrationError | undefined;

  constructor(stream: Duplex, { handler = nobody, clock = realClock }: ControlLinkOptions = {}) {
    this.#stream = stream;
    this.#handler = handler;
    this.#clock = clock;
    this.closed = new Promise((resolve) => {
      const finish = (cause?: unknown): void => {
        this.#fail(cause);
        resolve();
      };
      stream.on("error", finish).on("end", finish).on("close", finish);
    });
    stream.on("data", (chunk: Buffer) => {
      if (this.#end) return;
      try {
        this.#reader.push(chunk, (message) => this.#receive(message));
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  /** Asks the peer. Rejects with a `MigrationError`: the peer's own, or `MIGRATION_PEER` without an answer. */
  async call(
    method: string,
    params: object,
    { timeout = 10_000, signal }: ControlCallOptions = {},
  ): Promise<unknown> {
    const id = this.#next++;
    return await new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        this.#pending.delete(id);
        this.#clock.clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        act();
      };
      const fail = (why: string): void => settle(() => reject(unanswered(method, why)));
      const onAbort = (): void => fail("the caller gave up");
      const timer = this.#clock.setTimeout(
        () => fail(`no answer within ${timeout} ms`),
        Math.min(timeout, 0x7fffffff),
      );
      this.#pending.set(id, {
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      });
      signal?.addEventListener("abort", onAbort);
      if (this.#end) return fail(this.#end.message);
      if (signal?.aborted) return onAbort();
      this.#stream.write(encodeFrame({ id, method, params }));
    });
  }

  close(): void {
    this.#fail(new Error("this side closed the link"));
  }

  #receive(message: JsonObject): void {
    const { id, method } = message;
    if (typeof method === "string") {
      void this.#serve(id, method, message["params"]);
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    // An answer after the timeout: the caller has moved on.
    if (!pending) return;
    if ("error" in message) pending.reject(remoteError(message["error"]));
    else pending.resolve(message["result"]);
  }

  async #serve(id: unknown, method: string, params: unknown): Promise<void> {
    if (this.#served >= mostServed)
      return this.#fail(new Error("the peer sends too many requests at once"));
    this.#served++;
    let answer: object;
    try {
      answer = { id, result: (await this.#handler(method, params)) ?? {} };
    } catch (error) {
      answer = { id, error: shown(error) };
    } finally {
      this.#served--;
    }
    if (!this.#end) this.#stream.write(encodeFrame(answer));
  }

  #fail(cause: unknown): void {
    if (this.#end) return;
    const why = cause instanceof Error ? cause.message : "the peer closed the link";
    this.#end = new MigrationError("MIGRATION_PEER", why, { cause });
    this.#stream.destroy();
    // Whoever keeps the link must not keep what its peer has sent of an unfinished message.
    this.#reader.drop();
    for (const { reject } of [...this.#pending.values()]) {
      reject(unanswered("a question", why));
    }
  }
}

async function nobody(method: string): Promise<never> {
  throw new MigrationError("MIGRATION_REFUSED", `nobody answers "${method.slice(0, 64)}" here`);
}

function unanswered(method: string, why: string): MigrationError {
  const message = `${method} was not answered: ${why}`;
  return new MigrationError("MIGRATION_PEER", message, { path: method });
}

function shown(error: unknown): object {
  if (!isMigrationError(error)) return { message: "the peer failed for an internal reason" };
  return { code: error.code, message: error.message, path: error.path };
}

function remoteError(value: unknown): MigrationError {
  const { code, message, path } = Object(value) as Readonly<Record<string, unknown>>;
  const known = codes.find((each) => each === code) ?? "MIGRATION_PEER";
  const text = typeof message === "string" ? message.slice(0, 2_000) : "it failed";
  return new MigrationError(known, text, typeof path === "string" ? { path } : {});
}
