/**
 * A value that must not be seen by accident. Plans hold user data, keys and passwords as sealed values,
 * so that a plan can be printed, logged or sent as JSON without them: `console.log` shows `Sealed {}`.
 */
export class Sealed<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value. Call it only where the value is used. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return "[sealed]";
  }

  toJSON(): string {
    return "[sealed]";
  }
}

const utf8 = new TextEncoder();

/** Seals a string as its UTF-8 bytes. */
export function sealText(text: string): Sealed<Uint8Array> {
  return new Sealed(utf8.encode(text));
}
