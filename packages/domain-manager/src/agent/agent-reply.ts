import { DomainManagerError } from "../domain-manager-error.ts";

/**
 * A value from a guest agent's reply. The guest may be hostile: the reader of a field says what it must be
 * and how much of it to accept. Other fields are ignored.
 *
 * Every method throws a {@link DomainManagerError} with the code `DOMAIN_AGENT` that names the command and the
 * place, and never quotes more than the type of what was found there.
 */
export class AgentReply {
  readonly #command: string;
  readonly #path: string;
  readonly #value: unknown;

  private constructor(command: string, path: string, value: unknown) {
    this.#command = command;
    this.#path = path;
    this.#value = value;
  }

  /** Parses a reply; one with more than `limit` characters is refused before it is parsed. */
  static parse(command: string, text: string | undefined, limit: number): AgentReply {
    if (text !== undefined && text.length > limit) {
      throw agentError(
        command,
        `the reply has ${text.length} characters; at most ${limit} are accepted`,
      );
    }
    let value: unknown;
    try {
      value = JSON.parse(text ?? "");
    } catch {
      throw agentError(command, "the reply is not JSON");
    }
    const result = new AgentReply(command, "reply", value).field("return");
    // A failed agent says so in another field. A missing result must not read as an empty list.
    if (result.absent) throw agentError(command, "the reply has no result");
    return result;
  }

  /** A field of an object; a missing one reads as absent. */
  field(name: string): AgentReply {
    const value = this.#value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.#wrong("an object");
    }
    const found: unknown = Object.hasOwn(value, name)
      ? (value as Record<string, unknown>)[name]
      : undefined;
    return new AgentReply(this.#command, `${this.#path}.${name}`, found);
  }

  /** The first `limit` entries of a list; none if the list is absent. */
  list<T>(limit: number, read: (entry: AgentReply) => T): T[] {
    if (this.absent) return [];
    if (!Array.isArray(this.#value)) throw this.#wrong("a list");
    return this.#value
      .slice(0, limit)
      .map((entry, index) => read(new AgentReply(this.#command, `${this.#path}[${index}]`, entry)));
  }

  /** The first `limit` characters of a string, without unprintable ones. */
  text(limit: number): string {
    if (typeof this.#value !== "string") throw this.#wrong("a string");
    return printable(this.#value, limit);
  }

  /** Like {@link text}; undefined if it is absent. */
  optionalText(limit: number): string | undefined {
    return this.absent ? undefined : this.text(limit);
  }

  /** A number that is not negative. */
  count(): number {
    const value = this.number();
    if (value < 0) throw this.#wrong("a number that is not negative");
    return value;
  }

  /** A non-negative integer that fits into 63 bits. */
  whole(): number {
    const value = this.count();
    if (!Number.isInteger(value) || value >= 2 ** 63) throw this.#wrong("a whole number");
    return value;
  }

  number(): number {
    if (typeof this.#value !== "number" || !Number.isFinite(this.#value)) {
      throw this.#wrong("a number");
    }
    return this.#value;
  }

  flag(): boolean {
    if (typeof this.#value !== "boolean") throw this.#wrong("true or false");
    return this.#value;
  }

  /** Base64-encoded bytes; none if they are absent. Not sanitized, so not for display. */
  bytes(): Buffer {
    if (this.absent) return Buffer.alloc(0);
    if (typeof this.#value !== "string") throw this.#wrong("bytes in base64");
    return Buffer.from(this.#value, "base64");
  }

  /** One of the words. */
  oneOf<Word extends string>(...words: readonly Word[]): Word {
    const word = words.find((candidate) => candidate === this.#value);
    if (word === undefined) throw this.#wrong(words.join(" or "));
    return word;
  }

  get absent(): boolean {
    return this.#value === undefined || this.#value === null;
  }

  #wrong(wanted: string): DomainManagerError {
    return agentError(
      this.#command,
      `${this.#path} must be ${wanted}, found ${typeOf(this.#value)}`,
    );
  }
}

/** Control and format characters, unpaired surrogates, and line separators. */
const notForShowing = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** The first `limit` characters of a string from a guest, without unprintable ones. */
export function printable(text: string, limit: number): string {
  return text.slice(0, limit).replace(notForShowing, "");
}

/** The error for a misbehaving guest agent. */
export function agentError(command: string, what: string, cause?: unknown): DomainManagerError {
  return new DomainManagerError("DOMAIN_AGENT", `guest agent, ${command}: ${what}`, {
    path: command,
    cause,
  });
}

function typeOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "number" && !Number.isFinite(value)) return "an infinite number";
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}
