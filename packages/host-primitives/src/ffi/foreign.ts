import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { HostError } from "../host-error.ts";

type Koffi = typeof import("koffi");
type Library = ReturnType<Koffi["load"]>;

let loaded: { readonly koffi: Koffi; readonly libc: Library } | undefined;

/**
 * Loads koffi on the first foreign call and never before, so that the pure functions of this
 * package work without the native module.
 */
function native(): { readonly koffi: Koffi; readonly libc: Library } {
  if (loaded) return loaded;
  if (process.platform !== "linux") {
    throw new HostError(
      "HOST_UNSUPPORTED",
      `this needs Linux; the platform is ${process.platform}`,
    );
  }
  let koffi: Koffi;
  try {
    const require = createRequire(import.meta.url);
    // By its real path: koffi looks for its binary next to itself, even where Node keeps symbolic
    // links.
    koffi = require(realpathSync.native(require.resolve("koffi"))) as Koffi;
  } catch (cause) {
    const message = "the native module koffi cannot be loaded; install it with its binary package";
    throw new HostError("HOST_UNSUPPORTED", message, { cause });
  }
  // The running program's own symbols: the C library that Node is linked with, glibc or musl.
  loaded = { koffi, libc: koffi.load(null) };
  return loaded;
}

/** How an argument is passed. `buffer` is our own memory, which must outlive the call. */
export type ForeignType = "int" | "long" | "uint" | "size_t" | "uint64" | "buffer";

type ForeignValue<T extends ForeignType> = T extends "buffer"
  ? NodeJS.ArrayBufferView | null
  : T extends "uint64"
    ? number | bigint
    : number;
type ForeignValues<T extends readonly ForeignType[]> = {
  [K in keyof T]: T[K] extends ForeignType ? ForeignValue<T[K]> : never;
};

/**
 * Declares a function of the C library with a fixed number of arguments; the symbol is looked up on
 * the first call. The result must have the type of the C declaration: an `int` that is read as a
 * `long` has undefined upper bits, so -1 would look like success.
 */
export function foreign<const T extends readonly ForeignType[]>(
  result: "int" | "long",
  name: string,
  types: T,
): (...values: ForeignValues<T>) => number {
  let bound: ((...values: unknown[]) => number | bigint) | undefined;
  return (...values) => {
    bound ??= native().libc.func(
      name,
      result,
      types.map((type) => (type === "buffer" ? "void *" : type)),
    ) as (...values: unknown[]) => number | bigint;
    return Number(bound(...values));
  };
}

/**
 * Ends a foreign call: returns its result, or throws the thread's errno as a {@link HostError}.
 * Pass the result directly, with nothing between the call and this.
 */
export function done(result: number, syscall: string, touched: string): number {
  if (result >= 0) return result;
  throw HostError.ofSyscall(syscall, errnoName(native().koffi.errno()), touched);
}

/** Address of our own memory, for a pointer inside a structure. The caller keeps the buffer alive. */
export function addressOf(buffer: NodeJS.ArrayBufferView): bigint {
  return BigInt(native().koffi.address(buffer));
}

/** A watch on a descriptor; ends with `close`. */
export interface DescriptorPoll {
  /** Waits for the next event; a watch calls back once. */
  again(): void;
  close(): void;
}

/** Live watches: the event loop forgets a watch that nobody references. */
const polls = new Set<DescriptorPoll>();

/**
 * Calls back once, on the event loop, when a descriptor is readable (or writable, if that is asked for) or has an error.
 * The caller makes sure that the descriptor is open, can be polled, and is polled only once.
 */
export function pollDescriptor(
  fd: number,
  onReady: () => void,
  { writable = false }: { readonly writable?: boolean } = {},
): DescriptorPoll {
  const options = { readable: !writable, writable, disconnect: true };
  // koffi passes (status, events), whatever its types say; a read then shows what happened.
  const callback = (): void => {
    // Otherwise the event loop would call back in each turn until everything was read.
    handle.stop();
    onReady();
  };
  // Needed: Node waits only for the kinds of descriptors that it knows; raw sockets and TAPs are
  // not among them.
  // Safe: the caller has checked what would abort the process; the handle is held until it is
  // closed.
  const handle = native().koffi.node.poll(fd, options, callback);
  const poll: DescriptorPoll = {
    again: () => handle.start(options, callback),
    close: () => {
      polls.delete(poll);
      handle.stop();
      handle.close();
    },
  };
  polls.add(poll);
  return poll;
}

// EAGAIN and EWOULDBLOCK are the same number, and so are EOPNOTSUPP and ENOTSUP: we use the first
// name.
const aliases: readonly string[] = ["EWOULDBLOCK", "ENOTSUP"];
const names: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno)
    .filter(([name]) => !aliases.includes(name))
    .map(([name, number]) => [number, name]),
);

/** The kernel's name of an error number, or `E<number>` if it is unknown. */
export function errnoName(number: number): string {
  return names.get(number) ?? `E${number}`;
}

/**
 * Encodes text for the kernel: UTF-8 and one NUL at the end. A NUL inside would cut it short, so it
 * is refused.
 */
export function cString(text: string, field: string): Buffer {
  if (text.includes("\0")) {
    const message = `${field} contains a NUL character; remove it`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: field });
  }
  return Buffer.from(`${text}\0`, "utf8");
}

/**
 * Returns an integer within a range, or throws; koffi would silently round, wrap or zero anything
 * else.
 */
export function integer(value: number, min: number, max: number, field: string): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const message = `${field} is ${value}; use an integer from ${min} to ${max}`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: field });
}
