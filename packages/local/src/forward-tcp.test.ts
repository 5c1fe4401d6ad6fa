import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { forwardTcp, type TcpLimits } from "./forward-tcp.ts";

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** A guest, a forwarder in front of it, and a connection to that. */
async function connected(
  guest: (socket: Socket) => void,
  limits?: TcpLimits,
): Promise<{ client: Socket; port: number }> {
  const target = await listening(createServer({ allowHalfOpen: true }, guest));
  const server = createServer({ allowHalfOpen: true });
  forwardTcp(server, { address: "127.0.0.1", port: target }, limits);
  const port = await listening(server);
  return { client: dial(port), port };
}

function dial(port: number): Socket {
  const client = connect({ host: "127.0.0.1", port });
  client.on("error", () => undefined);
  return client;
}

test("delivers everything that is sent after the other side has stopped sending", async () => {
  const { client } = await connected((socket) => {
    const heard: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => heard.push(chunk));
    socket.on("end", () => socket.end(Buffer.concat(heard)));
  });
  const sent = "0123456789".repeat(200_000);
  client.end(sent);
  const heard = await text(client);
  expect(heard.length).toBe(sent.length);
  expect(heard === sent).toBe(true);
});

test("a guest that does not listen causes a reset, not an orderly end", async () => {
  const server = createServer();
  const free = await listening(server);
  server.close();
  const forwarder = createServer({ allowHalfOpen: true });
  forwardTcp(forwarder, { address: "127.0.0.1", port: free });
  const client = connect({ host: "127.0.0.1", port: await listening(forwarder) });
  const [error] = (await once(client, "error")) as [NodeJS.ErrnoException];
  expect(error.code).toBe("ECONNRESET");
});

test("a guest that resets resets the client", async () => {
  const { client } = await connected((socket) => socket.resetAndDestroy());
  const hadError = await new Promise((resolve) => client.once("close", resolve));
  expect(hadError).toBe(true);
});

test("refuses connections above the limit, and accepts new ones once one has ended", async () => {
  const limits = { connections: 1, connectTimeout: 10_000 };
  const { client, port } = await connected((socket) => socket.write("hello"), limits);
  await once(client, "data");
  const second = dial(port);
  await once(second.resume(), "close");
  expect(second.bytesRead).toBe(0);
  client.resetAndDestroy();
  let answered = false;
  while (!answered) {
    const third = dial(port);
    answered = await new Promise((resolve) => {
      third.once("data", () => resolve(true));
      third.once("close", () => resolve(false));
    });
    third.destroy();
  }
  expect(answered).toBe(true);
});

test("counts accepted and refused connections", async () => {
  const counts: unknown[] = [];
  const metrics = { count: (...counted: unknown[]) => counts.push(counted), observe: () => {} };
  const target = await listening(createServer((socket) => socket.write("hello")));
  const forwarder = createServer({ allowHalfOpen: true });
  const limits = { connections: 1, connectTimeout: 10_000 };
  forwardTcp(forwarder, { address: "127.0.0.1", port: target }, limits, { metrics });
  const port = await listening(forwarder);
  await once(dial(port), "data");
  const second = dial(port);
  await new Promise((resolve) => second.resume().once("close", resolve));
  expect(counts).toEqual([
    ["forwarded_connections", { outcome: "accepted" }],
    ["forwarded_connections", { outcome: "refused" }],
  ]);
});
