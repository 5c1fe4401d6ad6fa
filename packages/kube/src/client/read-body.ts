import type { IncomingMessage } from "node:http";
import { KubeError } from "./kube-error.ts";

/** The complete body of a response. Rejects if it is longer than the limit, or ends before it is complete. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw tooLong(maxBytes);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}

/** The error of an answer that is longer than its reader allows. */
export function tooLong(maxBytes: number): KubeError {
  const message = `the response is longer than ${maxBytes} bytes; request less, or raise maxAnswerBytes`;
  return new KubeError("KUBE_ANSWER_INVALID", message, { path: "maxAnswerBytes" });
}
