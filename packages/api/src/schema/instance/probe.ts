import {
  type ExecAction,
  ExecActionSchema,
  type HTTPGetAction,
  HTTPGetActionSchema,
  type TCPSocketAction,
  TCPSocketActionSchema,
} from "../core/probe-action.ts";
import { type Empty, int32, object, type Schema } from "../schema.ts";

/** Asks the guest agent for a sign of life. */
export type GuestAgentPing = Empty;

export const GuestAgentPingSchema: Schema<GuestAgentPing> = object<GuestAgentPing>({});

/** A check of the guest, made again and again; exactly one way to check is set. */
export interface Probe {
  exec?: ExecAction;
  failureThreshold?: number;
  guestAgentPing?: GuestAgentPing;
  httpGet?: HTTPGetAction;
  initialDelaySeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  tcpSocket?: TCPSocketAction;
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
