import type { IncomingMessage } from "node:http";
import { ApiServerError } from "../api-server-error.ts";

/**
 * The body of a request. It is rejected before it is read if its declared length is too long, and otherwise as soon
 * as it gets too long.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limit) throw tooLong(limit);
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        chunks.length = 0;
        request.pause();
        reject(tooLong(limit));
      } else chunks.push(chunk);
    });
    // `on` and not `once`, whose wrappers cost more than everything else here.
    request.on("end", () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    );
    request.on("error", reject);
    request.on("close", () => {
      if (!request.complete) reject(cutOff());
    });
  });
}

function tooLong(limit: number): ApiServerError {
  return new ApiServerError("API_SERVER_BODY_TOO_LONG", `the body is longer than ${limit} bytes`);
}

function cutOff(): ApiServerError {
  return new ApiServerError("API_SERVER_BODY_CUT_OFF", "the client ended before its body did");
}
