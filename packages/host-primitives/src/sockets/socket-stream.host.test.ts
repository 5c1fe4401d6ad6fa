import { once } from "node:events";
import { fstatSync, readdirSync } from "node:fs";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { socketPair } from "./fd-passing.ts";
import { socketStream } from "./socket-stream.ts";

test("a socket becomes a stream that owns it: bytes both ways, half-close, and no descriptor is left", async () => {
  const before = readdirSync("/proc/self/fd").length;
  const [left, right] = socketPair();
  const inode = fstatSync(left.fd, { bigint: true }).ino;
  const stream = socketStream(left);
  expect(left.closed).toBe(true);
  const { fd } = Reflect.get(stream, "_handle") as { fd: number };
  expect(fstatSync(fd, { bigint: true }).ino).toBe(inode);
  const peer = new Socket({ fd: right.release(), allowHalfOpen: true });
  const sent = Buffer.alloc(1 << 20, "stream");
  const received: Buffer[] = [];
  peer.on("data", (part) => received.push(part));
  stream.end(sent);
  await once(peer, "end");
  expect(Buffer.concat(received).equals(sent)).toBe(true);
  peer.end("done");
  expect(String((await once(stream, "data"))[0])).toBe("done");
  await once(stream, "close");
  if (!peer.closed) await once(peer, "close");
  expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
});
