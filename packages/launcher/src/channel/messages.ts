import { LauncherError } from "../launcher-error.ts";
import { type Check, fields, flag, list, text, whole } from "./check.ts";

/** Versions of the channel that this side speaks. */
export const channelVersions: readonly number[] = [1];

/** The most bytes of a frame before the other side has said hello. */
export const helloBytes: number = 64 * 1024;
/**
 * The most bytes of a request: a VMI with its context; an API server stores at most 1.5 MiB of it.
 */
export const requestBytes: number = 4 * 1024 * 1024;
/** The most bytes of an answer: a picture of a large screen. */
export const answerBytes: number = 64 * 1024 * 1024;
/** The longest that a call may take: a memory dump. */
export const maxTimeout: number = 24 * 60 * 60 * 1000;

const id: Check<number> = whole(1, Number.MAX_SAFE_INTEGER);
const versions: Check<readonly number[]> = list(whole(1, 1_000_000), 1_000);
const anything: Check<unknown> = (value) => value;

/** What a client sends. */
export type ClientMessage =
  /** Comes first: the versions that the client speaks. */
  | { readonly type: "hello"; readonly versions: readonly number[]; readonly software?: string }
  /** A request; the answer has the same id. `timeout` is the caller's remaining time, in ms. */
  | {
      readonly type: "request";
      readonly id: number;
      readonly verb: string;
      readonly args?: unknown;
      readonly timeout?: number;
    }
  /** The caller has given up, or an event stream is to end. The answer still follows. */
  | { readonly type: "cancel"; readonly id: number }
  /** Allows this many more items of a stream. */
  | { readonly type: "credit"; readonly id: number; readonly count: number };

/** What a launcher sends. */
export type LauncherMessage =
  /** Answers the client's hello. Both sides use the highest version that both speak. */
  | {
      readonly type: "hello";
      readonly versions: readonly number[];
      readonly software?: string;
      readonly inFlight?: number;
    }
  /** Ends a request. A failure has a message, and a code for programs. */
  | {
      readonly type: "answer";
      readonly id: number;
      readonly success: boolean;
      readonly result?: unknown;
      readonly message?: string;
      readonly code?: string;
      readonly path?: string;
    }
  /** One item of a stream; the answer is its end. */
  | { readonly type: "item"; readonly id: number; readonly item?: unknown }
  /** The client violates the protocol; the connection ends. */
  | { readonly type: "fault"; readonly message: string; readonly code?: string };

type Table<M extends { readonly type: string }> = {
  readonly [K in M["type"]]: Check<Omit<Extract<M, { readonly type: K }>, "type">>;
};

const fromClient: Table<ClientMessage> = {
  hello: fields({ versions }, { software: text(256) }),
  request: fields({ id, verb: text(64) }, { args: anything, timeout: whole(0, maxTimeout) }),
  cancel: fields({ id }),
  credit: fields({ id, count: whole(1, 65_536) }),
};

const sentence = text(65_536);

const fromLauncher: Table<LauncherMessage> = {
  hello: fields({ versions }, { software: text(256), inFlight: whole(1, 65_536) }),
  answer: fields(
    { id, success: flag },
    { result: anything, message: sentence, code: text(64), path: text(4_096) },
  ),
  item: fields({ id }, { item: anything }),
  fault: fields({ message: sentence }, { code: text(64) }),
};

/** A client's message, checked; undefined for one of a type that only a newer client knows. */
export function readClientMessage(message: unknown): ClientMessage | undefined {
  return readMessage(fromClient, message);
}

/** A launcher's message, checked; undefined for one of a type that only a newer launcher knows. */
export function readLauncherMessage(message: unknown): LauncherMessage | undefined {
  return readMessage(fromLauncher, message);
}

function readMessage<M extends { readonly type: string }>(
  types: Table<M>,
  message: unknown,
): M | undefined {
  try {
    const { type } = fields({ type: text(64) })(message, "");
    if (!Object.hasOwn(types, type)) return undefined;
    const check = types[type as M["type"]];
    return { type, ...check(message, "") } as unknown as M;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LauncherError("LAUNCHER_PROTOCOL", `a message is malformed: ${why}`, { cause });
  }
}

/** The highest version that both sides speak. */
export function commonVersion(theirs: readonly number[]): number | undefined {
  const common = channelVersions.filter((version) => theirs.includes(version));
  return common.length > 0 ? Math.max(...common) : undefined;
}
