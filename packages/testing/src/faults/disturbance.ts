import { KubeError } from "@virtkit/kube";
import { statusError } from "../api-server/status-error.ts";

/** What goes wrong with one request. */
export type RequestFault =
  /** The process ends before or after the request took effect. */
  | { readonly kind: "crash"; readonly when: "before" | "after" }
  /** No answer comes; the request took effect, or it did not. */
  | { readonly kind: "no-answer"; readonly effect: boolean }
  /** No answer comes, and the request takes effect so many milliseconds later, unless it is refused by then. */
  | { readonly kind: "lands-late"; readonly milliseconds: number }
  /** The server refuses. */
  | { readonly kind: "refused"; readonly error: KubeError }
  /** The request takes so many milliseconds to arrive. */
  | { readonly kind: "slow"; readonly milliseconds: number };

/** What goes wrong with one event of a watch. */
export type EventFault =
  /** It and all that follows comes late, for so many milliseconds. */
  | { readonly kind: "late"; readonly milliseconds: number }
  /** Nothing is seen for so many milliseconds; then the server asks for a new list. */
  | { readonly kind: "blind"; readonly milliseconds: number }
  /** The connection breaks. */
  | { readonly kind: "cut" }
  /** It comes twice, as after a new connection from an older version. */
  | { readonly kind: "twice" };

/** Decides what goes wrong. Called once for each request and event, in their order. */
export interface Disturbance {
  write(count: number): RequestFault | undefined;
  read?(): RequestFault | undefined;
  event(count: number): EventFault | undefined;
}

/** The errors with which servers refuse for a while what they would take at another time. */
export const passingErrors: readonly (() => KubeError)[] = [
  () => statusError({ status: 409, reason: "Conflict", message: "somebody else was faster" }),
  () =>
    statusError({
      status: 429,
      reason: "TooManyRequests",
      message: "slow down",
      retryAfterSeconds: 1,
    }),
  () => statusError({ status: 500, reason: "InternalError", message: "etcd has no leader" }),
  () => statusError({ status: 503, reason: "ServiceUnavailable", message: "starting" }),
  () => new KubeError("KUBE_CONNECTION", "the connection was reset"),
];
