import {
  type ExecAction,
  ExecActionSchema,
  type HTTPGetAction,
  HTTPGetActionSchema,
  type TCPSocketAction,
  TCPSocketActionSchema,
} from "../core/probe-action.ts";
import { type Empty, int32, object, type Schema } from "../schema.ts";

/** Pings the guest agent. */
export type GuestAgentPing = Empty;

export const GuestAgentPingSchema: Schema<GuestAgentPing> = object<GuestAgentPing>({});

/** A periodic check of the guest; exactly one way to check is set. */
export interface Probe {
  exec?: ExecAction;
  /** Failures in a row until the check counts as failed; 3 if absent. */
  failureThreshold?: number;
  guestAgentPing?: GuestAgentPing;
  httpGet?: HTTPGetAction;
  /** Counted from the start of the guest. */
  initialDelaySeconds?: number;
  /** 10 if absent. */
  periodSeconds?: number;
  /** Successes in a row until the check counts as passed; 1 if absent. */
  successThreshold?: number;
  tcpSocket?: TCPSocketAction;
  /** 1 if absent. */
  timeoutSeconds?: number;
}

export const ProbeSchema: Schema<Probe> = object<Probe>({
  exec: ExecActionSchema,
  failureThreshold: int32,
  guestAgentPing: GuestAgentPingSchema,
  httpGet: HTTPGetActionSchema,
  initialDelaySeconds: int32,
  periodSeconds: int32,
  successThreshold: int32,
  tcpSocket: TCPSocketActionSchema,
  timeoutSeconds: int32,
});
