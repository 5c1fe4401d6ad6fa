import type { MessagePort } from "node:worker_threads";
import type { HostErrorCode } from "../host-error.ts";

/** A request to the helper thread. */
export interface HelperRequest {
  readonly id: number;
  readonly namespaces: readonly {
    readonly fd: number;
    readonly flag: number;
    readonly what: string;
  }[];
  readonly operation: string;
  readonly args: unknown;
}

/** An error on its way between threads: structured clone would lose its class. */
export interface PlainError {
  readonly code: HostErrorCode;
  readonly message: string;
  readonly path: string | undefined;
  readonly errno: string | undefined;
  readonly syscall: string | undefined;
}

export type HelperAnswer =
  | {
      readonly id: number;
      readonly value: unknown;
      readonly descriptors: readonly { readonly fd: number; readonly what: string }[];
    }
  | { readonly id: number; readonly error: PlainError };

/**
 * Two counters in shared memory: requests posted and answers posted. Each side waits for the
 * other's.
 */
export type HelperSignals = Int32Array<SharedArrayBuffer>;

export const signalIndex = { requests: 0, answers: 1 } as const;

export function newSignals(): HelperSignals {
  return new Int32Array(new SharedArrayBuffer(8));
}

/** Counts a message that was posted and wakes the side that waits for it. */
export function raise(signals: HelperSignals, index: number): void {
  Atomics.add(signals, index, 1);
  Atomics.notify(signals, index);
}

/** Start parameters of the helper thread. */
export interface HelperData {
  readonly port: MessagePort;
  readonly signals: HelperSignals;
}
