import { kubevirtDomain } from "../../../names/well-known.ts";

/** The port on which node agents serve the API server, with mutual TLS: KubeVirt's. */
export const nodeAgentPort = 8186;

/**
 * The WebSocket subprotocol of all streams, which `virtctl` requests: the stream's bytes, in binary messages.
 */
export const streamProtocol: string = `plain.${kubevirtDomain}`;

/**
 * The header with the UID of the VMI that the API server has read and checked. Every request has it: a later VMI of
 * the same name is a different one, and gets 409.
 */
export const vmiUidHeader = "virtkit-vmi-uid";

/** Bytes of a request's body that a node agent reads; larger bodies get 413. */
export const maxNodeRequestBody: number = 64 * 1024;

/** Maximum length of a WebSocket message in bytes; a longer one ends the stream. */
export const maxStreamMessage: number = 1024 * 1024;

/** Milliseconds that a WebSocket handshake may take. */
export const streamHandshakeTimeout = 10_000;

/** How a node agent ends a stream: the code of the closing frame. A reason text says more. */
export const streamCloseCodes = {
  /** The guest's end is closed: the guest has ended or moved. */
  ended: 1000,
  /** The node agent is stopping, or another client has taken over the console. */
  goingAway: 1001,
  /** The peer broke the protocol. */
  protocol: 1002,
  /** A message was longer than `maxStreamMessage`. */
  tooLong: 1009,
  /** The guest's end could not be reached, or failed. */
  failed: 1011,
} as const;

/** What the API server asks a node agent for. */
export interface NodeRoute {
  readonly method: "GET" | "PUT";
  /** Status code of a successful request; 101 if it becomes a stream. */
  readonly success: 101 | 200 | 202;
  /** Parameters that the query may have. */
  readonly query?: readonly string[];
  /** Whether the body is read; other bodies are ignored. */
  readonly body?: "json";
  /** The type of the answer, apart from plain text that says what failed. */
  readonly answer?: "json" | "image";
  /** Milliseconds after which the API server may give up. The node agent answers before that. */
  readonly timeout: number;
}

/** A subresource of a VMI that its node answers. Port forwarding is not one: the API server dials the Pod. */
export type NodeSubresource =
  | "console"
  | "vnc"
  | "vnc/screenshot"
  | "usbredir"
  | "vsock"
  | "pause"
  | "unpause"
  | "freeze"
  | "unfreeze"
  | "softreboot"
  | "reset"
  | "backup"
  | "redefine-checkpoint"
  | "guestosinfo"
  | "userlist"
  | "filesystemlist"
  | "sev/fetchcertchain"
  | "sev/querylaunchmeasurement"
  | "sev/injectlaunchsecret";

const [quick, usual, freezing] = [10_000, 25_000, 65_000];

/** Every route of a node agent, by subresource: methods, bodies and codes as in KubeVirt's virt-handler. */
export const nodeRoutes: Readonly<Record<NodeSubresource, NodeRoute>> = {
  console: { method: "GET", success: 101, timeout: quick },
  vnc: { method: "GET", success: 101, query: ["preserveSession"], timeout: quick },
  "vnc/screenshot": { method: "GET", success: 200, answer: "image", timeout: usual },
  usbredir: { method: "GET", success: 101, timeout: quick },
  // Its node may ask for a certificate, dials, and waits for the guest's handshake, each with a limit of its own.
  vsock: { method: "GET", success: 101, query: ["port", "tls"], timeout: usual },
  pause: { method: "PUT", success: 202, timeout: usual },
  unpause: { method: "PUT", success: 202, timeout: usual },
  freeze: { method: "PUT", success: 202, body: "json", timeout: freezing },
  unfreeze: { method: "PUT", success: 202, timeout: freezing },
  softreboot: { method: "PUT", success: 202, timeout: usual },
  reset: { method: "PUT", success: 202, timeout: usual },
  backup: { method: "PUT", success: 202, body: "json", timeout: usual },
  "redefine-checkpoint": { method: "PUT", success: 200, body: "json", timeout: usual },
  guestosinfo: { method: "GET", success: 200, answer: "json", timeout: quick },
  userlist: { method: "GET", success: 200, answer: "json", timeout: quick },
  filesystemlist: { method: "GET", success: 200, answer: "json", timeout: quick },
  "sev/fetchcertchain": { method: "GET", success: 200, answer: "json", timeout: quick },
  "sev/querylaunchmeasurement": { method: "GET", success: 200, answer: "json", timeout: quick },
  "sev/injectlaunchsecret": { method: "PUT", success: 202, body: "json", timeout: usual },
};

/** Whether a node answers this subresource of a VMI. */
export function isNodeSubresource(name: string): name is NodeSubresource {
  return Object.hasOwn(nodeRoutes, name);
}
