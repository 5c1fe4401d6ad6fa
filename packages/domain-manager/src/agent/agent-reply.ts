import { DomainManagerError } from "../domain-manager-error.ts";

/**
 * A value out of a guest agent's reply. The guest may be hostile: whoever reads a field says what it must be
 * and how much of it is taken. Fields that nobody asks for are ignored.
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

  /** Reads the text of a reply; one of more than `limit` characters is refused before it is parsed. */
  static parse(command: string, text: string | undefined, limit: number): AgentReply {
    if (text !== undefined && text.length > limit) {
      throw agentError(command, `the reply has ${text.length} characters; ${limit} are taken`);
    }
    let value: unknown;
    try {
      value = JSON.parse(text ?? "");
    } catch {
      throw agentError(command, "the reply is not JSON");
    }
    const result = new AgentReply(command, "reply", value).field("return");
    // An agent that failed says so in another field. What is not there must not read as an empty list.
    if (result.absent) throw agentError(command, "the reply has no result");
    return result;
  }

  /** A field of an object; one that is not there reads as absent. */
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

  /** The first `limit` entries of a list; none where the list is absent. */
  list<T>(limit: number, read: (entry: AgentReply) => T): T[] {
    if (this.absent) return [];
    if (!Array.isArray(this.#value)) throw this.#wrong("a list");
    return this.#value
      .slice(0, limit)
      .map((entry, index) => read(new AgentReply(this.#command, `${this.#path}[${index}]`, entry)));
  }

  /** The first `limit` characters of a text, without those that are not for showing. */
  text(limit: number): string {
    if (typeof this.#value !== "string") throw this.#wrong("a text");
    return printable(this.#value, limit);
  }

  /** As {@link text}; undefined where it is absent. */
  optionalText(limit: number): string | undefined {
    return this.absent ? undefined : this.text(limit);
  }

  /** A number that is not negative. */
  count(): number {
    const value = this.number();
    if (value < 0) throw this.#wrong("a number that is not negative");
    return value;
  }

  /** A whole number that is not negative and that 63 bits hold. */
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

  /** Bytes that travel in base64; none where they are absent. As the guest sent them, so not for showing. */
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

/** Control and format characters, halves of pairs, and the separators that break lines. */
const notForShowing = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** The first `limit` characters of a text that a guest sent, without those that are not for showing. */
export function printable(text: string, limit: number): string {
  return text.slice(0, limit).replace(notForShowing, "");
}

/** The error for something that the guest agent did. */
export function agentError(command: string, what: string, cause?: unknown): DomainManagerError {
  return new DomainManagerError("DOMAIN_AGENT", `guest agent, ${command}: ${what}`, {
    path: command,
    cause,
  });
}

function typeOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "number" && !Number.isFinite(value)) return "a number without end";
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}
