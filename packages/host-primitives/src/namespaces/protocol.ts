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

/** An error as it crosses threads: structured clone would lose its class. */
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
