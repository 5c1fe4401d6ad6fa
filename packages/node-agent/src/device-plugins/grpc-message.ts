import { connect, type IncomingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import type { Readable } from "node:stream";
import { NodeAgentError } from "../node-agent-error.ts";

/** A request from the kubelet names a few devices; a longer one is not from the kubelet. */
const maxRequest = 1 << 20;

/** A gRPC message is preceded by a byte that says whether it is compressed, and four bytes with its length. */
export function frameMessage(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The single message of a request. Rejects with a RangeError if there is none, or it is too long. */
export async function readMessage(stream: Readable): Promise<Uint8Array> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stream) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    if (bytes.length > maxRequest) throw new RangeError("the request is too long");
  }
  if (bytes.length < 5 || bytes.readUInt32BE(1) !== bytes.length - 5) {
    throw new RangeError("the request is not one message");
  }
  return bytes.subarray(5);
}

/** Makes a call whose answer carries no data. Rejects with `AGENT_DEVICE_PLUGIN` if it fails. */
export async function callUnary(
  socket: string,
  path: string,
  message: Uint8Array,
  { timeout = 5_000 }: { readonly timeout?: number } = {},
): Promise<void> {
  const session = connect("http://localhost", { createConnection: () => connectSocket(socket) });
  try {
    await new Promise<void>((resolve, reject) => {
      session.once("error", reject);
      session.setTimeout(timeout, () => reject(refused(path, `no answer within ${timeout} ms`)));
      const headers = { "content-type": "application/grpc", te: "trailers" };
      const call = session.request({ ":method": "POST", ":path": path, ...headers });
      // An answer without a message has its status in the first headers.
      const end = (answer: IncomingHttpHeaders): void => {
        const status = answer["grpc-status"];
        if (status === "0") resolve();
        else if (status !== undefined)
          reject(refused(path, String(answer["grpc-message"] ?? status)));
      };
      call.once("response", end).once("trailers", end).once("error", reject);
      call.once("close", () => reject(refused(path, "no answer")));
      call.resume();
      call.end(frameMessage(message));
    });
  } finally {
    session.destroy();
  }
}

function refused(path: string, why: string): NodeAgentError {
  const message = `${path}: the kubelet did not accept it: ${why.slice(0, 500)}`;
  return new NodeAgentError("AGENT_DEVICE_PLUGIN", message, { path });
}
