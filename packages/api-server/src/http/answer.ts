import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Refusal } from "@virtkit/api/subresources";

/** Sends a value as JSON; nothing if there is none. */
export function sendJson(response: ServerResponse, code: number, value: unknown): void {
  if (value === undefined) {
    response.writeHead(code, { "content-length": 0 }).end();
    return;
  }
  const body = JSON.stringify(value);
  response.writeHead(code, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

/** Sends text. */
export function sendText(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

/** A rejection as the object that Kubernetes clients read. */
export function statusOf(
  { code, reason, message, details }: Refusal,
  group: string,
): Readonly<Record<string, unknown>> {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(details ? { details: { group, ...details } } : {}),
    code,
  };
}

/** Rejects an upgrade: an answer on the bare socket, which then ends. */
export function refuseUpgrade(socket: Duplex, code: number, value: unknown): void {
  const body = JSON.stringify(value);
  const head = [
    `HTTP/1.1 ${code} Refused`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
