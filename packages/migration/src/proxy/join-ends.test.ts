import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { afterEach, beforeEach, expect, it } from "vitest";
import { joinEnds } from "./join-ends.ts";
import { AcceptedEnd, plainEnd, type StreamEnd } from "./stream-end.ts";
import { pour, standsStill } from "./testing/proxy-fixture.ts";

let directory: string;
const sockets: Socket[] = [];
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "virtkit-join-"));
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  rmSync(directory, { recursive: true });
});

/** A connection of which Node has accepted one end. */
async function plainPair(): Promise<{ peer: Socket; end: StreamEnd }> {
  const file = path.join(directory, `plain-${sockets.length}`);
  const server = createServer({ pauseOnConnect: true }).listen(file);
  await once(server, "listening");
  const peer = connect(file);
  const [socket] = (await once(server, "connection")) as [Socket];
  server.close();
  return kept(peer, plainEnd(socket));
}

/** The same, accepted as a descriptor. */
async function acceptedPair(): Promise<{ peer: Socket; end: StreamEnd }> {
  const file = path.join(directory, `accepted-${sockets.length}`);
  using listener = listenUnix(file);
  const peer = connect(file);
  for await (const connection of listener.connections())
    return kept(peer, new AcceptedEnd(connection));
  throw new Error("nobody connected");
}

function kept(peer: Socket, end: StreamEnd): { peer: Socket; end: StreamEnd } {
  sockets.push(peer, end.socket);
  for (const socket of [peer, end.socket]) socket.on("error", () => undefined);
  return { peer, end };
}

/** Sends 64 MiB to one who does not read, and says how much the process in between held at most. */
async function mostHeld(
  from: { peer: Socket; end: StreamEnd },
  join: (from: StreamEnd, to: StreamEnd) => unknown,
): Promise<number> {
  const to = await plainPair();
  to.peer.pause();
  join(from.end, to.end);
  const progress = pour(from.peer, Buffer.alloc(64 << 20));
  let most = 0;
  await standsStill(() => {
    most = Math.max(most, to.end.socket.writableLength);
    return progress.sent;
  });
  return most;
}

it("a peer that does not read costs one buffer of an accepted end", async () => {
  await expect(mostHeld(await acceptedPair(), joinEnds)).resolves.toBeLessThanOrEqual(512 * 1024);
});

it("a peer that does not read costs one buffer of a plain end", async () => {
  await expect(mostHeld(await plainPair(), joinEnds)).resolves.toBeLessThanOrEqual(512 * 1024);
});

it("control: without back-pressure, it costs everything that is sent", async () => {
  const naive = (from: StreamEnd, to: StreamEnd): unknown =>
    from.socket.on("data", (chunk) => to.socket.write(chunk)).resume();
  await expect(mostHeld(await plainPair(), naive)).resolves.toBeGreaterThan(32 << 20);
});
