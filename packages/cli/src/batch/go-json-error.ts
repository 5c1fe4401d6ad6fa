/** Where a scanner stands: what it has read decides what may come next, and how Go words it. */
type Place = "value" | "key" | "colon" | "object" | "array";

/** What Go says that it was looking for. */
const expectations: Readonly<Record<Place, string>> = {
  value: "looking for beginning of value",
  key: "looking for beginning of object key string",
  colon: "after object key",
  object: "after object key:value pair",
  array: "after array element",
};

const literals = ["true", "false", "null"];
const escapes = /^["\\/bfnrt]$/;

class Fault extends Error {}

/**
 * What Go's decoder says of the first JSON value of a text that is none, or undefined if it is one.
 * What follows the value is not looked at, as a decoder of a stream does not.
 */
export function goJsonError(text: string): string | undefined {
  try {
    new Scanner(text).value();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): void {
    const char = this.#next();
    if (char === "{") this.#object();
    else if (char === "[") this.#array();
    else if (char === '"') this.#string();
    else if (/[-0-9]/.test(char)) this.#number(char);
    else this.#literal(char);
  }

  #object(): void {
    for (let first = true; ; first = false) {
      const char = this.#next();
      if (first && char === "}") return;
      if (char !== '"') this.#fail(char, expectations.key);
      this.#string();
      const colon = this.#next();
      if (colon !== ":") this.#fail(colon, expectations.colon);
      this.value();
      const end = this.#next();
      if (end === "}") return;
      if (end !== ",") this.#fail(end, expectations.object);
    }
  }

  #array(): void {
    for (let first = true; ; first = false) {
      if (first && this.#peek() === "]") {
        this.#next();
        return;
      }
      this.value();
      const end = this.#next();
      if (end === "]") return;
      if (end !== ",") this.#fail(end, expectations.array);
    }
  }

  #string(): void {
    for (let char = this.#take(); char !== '"'; char = this.#take()) {
      if (char < " ") this.#fail(char, "in string literal");
      if (char !== "\\") continue;
      const escaped = this.#take();
      if (escaped === "u") this.#hex();
      else if (!escapes.test(escaped)) this.#fail(escaped, "in string escape code");
    }
  }

  #hex(): void {
    for (let i = 0; i < 4; i++) {
      const digit = this.#take();
      if (!/[0-9a-fA-F]/.test(digit)) this.#fail(digit, "in \\u hexadecimal character escape");
    }
  }

  #number(first: string): void {
    const digit = first === "-" ? this.#take() : first;
    if (!/[0-9]/.test(digit)) this.#fail(digit, "in numeric literal");
    if (digit !== "0") this.#digits();
    if (this.#text[this.#at] === ".") {
      this.#at++;
      this.#digit("after decimal point in numeric literal");
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at++;
      if (/[+-]/.test(this.#text[this.#at] ?? "")) this.#at++;
      this.#digit("in exponent of numeric literal");
    }
  }

  #digit(where: string): void {
    const char = this.#take();
    if (!/[0-9]/.test(char)) this.#fail(char, where);
    this.#digits();
  }

  #digits(): void {
    while (/[0-9]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  #literal(first: string): void {
    const literal = literals.find((word) => word.startsWith(first));
    if (!literal) this.#fail(first, expectations.value);
    for (const expected of literal.slice(1)) {
      const char = this.#take();
      if (char !== expected) this.#fail(char, `in literal ${literal} (expecting '${expected}')`);
    }
  }

  #peek(): string | undefined {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at++;
    return this.#text[this.#at];
  }

  #next(): string {
    this.#peek();
    return this.#take();
  }

  #take(): string {
    const char = this.#text[this.#at++];
    if (char === undefined) throw new Fault("unexpected EOF");
    return char;
  }

  #fail(char: string, where: string): never {
    const offset = Buffer.byteLength(this.#text.slice(0, this.#at));
    const shown = char === "'" ? "'\\''" : char === '"' ? `'"'` : `'${char}'`;
    throw new Fault(`json: offset ${offset}: invalid character ${shown} ${where}`);
  }
}
