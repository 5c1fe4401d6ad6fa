import { tooLong } from "./read-body.ts";

/** A complete response of a server. */
export interface Answer {
  readonly status: number;
  /** By name in lower case; values of one name are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Head = Omit<Answer, "body">;

/** How a body ends. */
type Framing =
  | { readonly kind: "length"; left: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "close" };

const maxHeadBytes = 64 * 2 ** 10;
const headEnd = "\r\n\r\n";

/**
 * Reads one HTTP/1.1 response from the chunks of a connection. It is strict: it refuses anything that is not
 * framed according to RFC 9112, because otherwise whatever follows on the connection could be taken for the
 * response to another request.
 */
export class AnswerParser {
  readonly #isHead: boolean;
  readonly #maxBytes: number;
  /** What has come and is not yet part of the body. */
  #pending: Buffer = Buffer.alloc(0);
  #head: Head | undefined;
  #framing: Framing | undefined;
  #chunk: { left: number } | undefined;
  #isInTrailers = false;
  readonly #body: Buffer[] = [];
  #bodyBytes = 0;
  #isHttp11 = true;

  /** @param method of the request: the answer to a HEAD has no body. */
  constructor(method: string, maxBytes: number) {
    this.#isHead = method === "HEAD";
    this.#maxBytes = maxBytes;
  }

  /** Whether the connection may be used again after this answer. */
  get isKept(): boolean {
    const tokens = (this.#head?.headers["connection"] ?? "").toLowerCase();
    const isKept = this.#isHttp11 && !/(^|[ ,])close($|[ ,])/.test(tokens);
    return isKept && this.#framing?.kind !== "close" && this.#pending.length === 0;
  }

  /** Takes what has come. Returns the answer once it is complete. */
  push(chunk: Buffer): Answer | undefined {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (!this.#framing) if (!this.#readHead()) return undefined;
    return this.#readBody(this.#framing) ? this.#answer() : undefined;
  }

  /** The connection has ended. Returns the answer if that is its end. */
  end(): Answer | undefined {
    return this.#framing?.kind === "close" ? this.#answer() : undefined;
  }

  #answer(): Answer {
    const { status = 0, headers = {} } = this.#head ?? {};
    // Joined before they are decoded: a character may be cut in two.
    const [first = Buffer.alloc(0)] = this.#body;
    const whole = this.#body.length > 1 ? Buffer.concat(this.#body, this.#bodyBytes) : first;
    return { status, headers, body: whole.toString("utf8") };
  }

  /** Reads a head, if it is there. An interim answer is skipped: another one follows. */
  #readHead(): boolean {
    const end = this.#pending.indexOf(headEnd);
    if (end > maxHeadBytes || (end < 0 && this.#pending.length > maxHeadBytes)) {
      throw new Error(`the headers of the response are longer than ${maxHeadBytes} bytes`);
    }
    if (end < 0) return false;
    const [statusLine = "", ...lines] = this.#pending.toString("latin1", 0, end).split("\r\n");
    this.#pending = this.#pending.subarray(end + headEnd.length);
    const [, minor, code] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(statusLine) ?? [];
    if (code === undefined) throw new Error("the response is not HTTP/1.1");
    const status = Number(code);
    if (status === 101) throw new Error("the server wants to speak another protocol");
    if (status < 200) return true;
    this.#isHttp11 = minor === "1";
    this.#head = { status, headers: headersOf(lines) };
    this.#framing = this.#framingOf(this.#head);
    return true;
  }

  #framingOf({ status, headers }: Head): Framing {
    const { "transfer-encoding": encoding, "content-length": length } = headers;
    if (this.#isHead || status === 204 || status === 304) return { kind: "length", left: 0 };
    if (encoding !== undefined) {
      if (encoding.toLowerCase() === "chunked" && length === undefined) return { kind: "chunked" };
      throw new Error(`the response has an unknown framing: ${encoding}`);
    }
    if (length === undefined) return { kind: "close" };
    if (!/^\d{1,15}$/.test(length)) throw new Error(`the response has the length ${length}`);
    this.#checkBytes(Number(length));
    return { kind: "length", left: Number(length) };
  }

  /** Whether the body is complete. */
  #readBody(framing: Framing): boolean {
    switch (framing.kind) {
      case "length":
        framing.left -= this.#take(framing.left);
        return framing.left === 0;
      case "chunked":
        return this.#readChunks();
      case "close":
        this.#take(this.#pending.length);
        return false;
    }
  }

  #readChunks(): boolean {
    while (!this.#isInTrailers) {
      if (this.#chunk ? !this.#readChunk(this.#chunk) : !this.#beginChunk()) return false;
    }
    return this.#skipTrailers();
  }

  /** Reads the line with the size of a chunk, if it is there. The last chunk is empty. */
  #beginChunk(): boolean {
    const line = this.#line();
    if (line === undefined) return false;
    const [, size] = /^([\da-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
    if (size === undefined) throw new Error("a chunk of the response has no size");
    const left = Number.parseInt(size, 16);
    this.#checkBytes(this.#bodyBytes + left);
    if (left === 0) this.#isInTrailers = true;
    else this.#chunk = { left };
    return true;
  }

  /** Whether the chunk is complete, with the line break after it. */
  #readChunk(chunk: { left: number }): boolean {
    chunk.left -= this.#take(chunk.left);
    if (chunk.left > 0 || this.#pending.length < 2) return false;
    if (this.#pending.toString("latin1", 0, 2) !== "\r\n") throw new Error("a chunk does not end");
    this.#pending = this.#pending.subarray(2);
    this.#chunk = undefined;
    return true;
  }

  /** Nobody reads them; an empty line ends them. */
  #skipTrailers(): boolean {
    for (let line = this.#line(); line !== undefined; line = this.#line()) {
      if (line === "") return true;
    }
    return false;
  }

  #line(): string | undefined {
    const end = this.#pending.indexOf("\r\n");
    if (end < 0 && this.#pending.length > maxHeadBytes) throw new Error("a line does not end");
    if (end < 0) return undefined;
    const line = this.#pending.toString("latin1", 0, end);
    this.#pending = this.#pending.subarray(end + 2);
    return line;
  }

  /** Takes at most so many bytes into the body, and says how many there were. */
  #take(most: number): number {
    const part = this.#pending.subarray(0, most);
    if (part.length === 0) return 0;
    this.#checkBytes(this.#bodyBytes + part.length);
    this.#body.push(part);
    this.#bodyBytes += part.length;
    this.#pending = this.#pending.subarray(part.length);
    return part.length;
  }

  #checkBytes(bytes: number): void {
    if (bytes > this.#maxBytes) throw tooLong(this.#maxBytes);
  }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const [, name, value = ""] = /^([!#$%&'*+\-.^`|~\w]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) throw new Error("a header of the response cannot be read");
    const key = name.toLowerCase();
    const before = headers[key];
    headers[key] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}
