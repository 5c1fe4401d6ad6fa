import { LauncherError } from "../launcher-error.ts";

/*
 * A frame is a message of JSON and, behind it, bytes that need no JSON, as a picture:
 *
 *   u32  bytes after this word, big-endian
 *   u32  bytes of the JSON
 *        the JSON, UTF-8
 *        the attachment, often empty
 */
const wordBytes = 4;

/** One received message. The attachment owns its memory. */
export interface Frame {
  readonly message: unknown;
  readonly attachment: Buffer;
}

/** A message as bytes for the socket. */
export function encodeFrame(message: object, attachment: Uint8Array = noBytes): Buffer {
  const json = Buffer.from(JSON.stringify(message), "utf8");
  const frame = Buffer.allocUnsafe(2 * wordBytes + json.length + attachment.length);
  frame.writeUInt32BE(wordBytes + json.length + attachment.length, 0);
  frame.writeUInt32BE(json.length, wordBytes);
  json.copy(frame, 2 * wordBytes);
  frame.set(attachment, 2 * wordBytes + json.length);
  return frame;
}

const noBytes = new Uint8Array(0);

/**
 * Splits the bytes of a socket into frames. A frame above the limit throws before anything is
 * allocated for it, as does one with contradictory lengths or invalid JSON: a `LauncherError`,
 * after which the stream is unusable.
 */
export class FrameSplitter {
  /** The most bytes of a frame; may be raised once the other side is known. */
  limit: number;
  /**
   * The received part of an incomplete frame; its memory grows with what arrived, not with what was
   * claimed.
   */
  #pending: Buffer = Buffer.alloc(0);
  #have = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * Takes received bytes and delivers each complete frame, in order. Keeps nothing of the chunk.
   */
  push(chunk: Buffer, onFrame: (frame: Frame) => void): void {
    let rest = this.#have === 0 ? chunk : this.#append(chunk);
    for (let size = this.#nextSize(rest); size <= rest.length; size = this.#nextSize(rest)) {
      const body = rest.subarray(wordBytes, size);
      rest = rest.subarray(size);
      onFrame(parseFrame(body));
    }
    this.#keep(rest);
  }

  /** Bytes of the first frame including its length word; infinite while that word is incomplete. */
  #nextSize(rest: Buffer): number {
    if (rest.length < wordBytes) return Number.POSITIVE_INFINITY;
    const length = rest.readUInt32BE(0);
    if (length >= wordBytes && length <= this.limit) return wordBytes + length;
    const message = `a frame claims ${length} bytes; ${wordBytes} to ${this.limit} are allowed`;
    throw new LauncherError("LAUNCHER_PROTOCOL", message);
  }

  #append(chunk: Buffer): Buffer {
    const bytes = this.#have + chunk.length;
    if (bytes > this.#pending.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#pending.length));
      this.#pending.copy(grown, 0, 0, this.#have);
      this.#pending = grown;
    }
    chunk.copy(this.#pending, this.#have);
    this.#have = bytes;
    return this.#pending.subarray(0, bytes);
  }

  #keep(rest: Buffer): void {
    const inPlace = rest.length > 0 && rest.length === this.#have;
    if (!inPlace) this.#pending = Buffer.from(rest);
    this.#have = rest.length;
  }
}

/** Parsed JSON takes many times its size; only attachments, which are not parsed, may be larger. */
const jsonLimit = 16 * 1024 * 1024;

function parseFrame(body: Buffer): Frame {
  const jsonBytes = body.readUInt32BE(0);
  const end = wordBytes + jsonBytes;
  if (jsonBytes > jsonLimit) {
    const message = `a frame claims ${jsonBytes} bytes of JSON; at most ${jsonLimit} are allowed`;
    throw new LauncherError("LAUNCHER_PROTOCOL", message);
  }
  if (end > body.length) {
    const message = `a frame of ${body.length} bytes claims ${jsonBytes} bytes of JSON`;
    throw new LauncherError("LAUNCHER_PROTOCOL", message);
  }
  return {
    message: parseJson(body.toString("utf8", wordBytes, end)),
    // A copy: a picture must not keep the whole chunk that it came in alive.
    attachment: Buffer.from(body.subarray(end)),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the text, which may hold a secret.
    throw new LauncherError("LAUNCHER_PROTOCOL", "the frame is not JSON", { cause: name(cause) });
  }
}

function name(cause: unknown): string {
  return cause instanceof Error ? cause.name : typeof cause;
}
