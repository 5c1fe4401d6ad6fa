import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { ManualClock } from "@virtkit/api/clock";
import { expect, onTestFinished, test } from "vitest";
import { KeptConnections } from "./kept-connections.ts";
import { RequestScope } from "./request-scope.ts";

const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** A server of bytes: what it does with each request is told by its number. */
async function byteServer(onRequest: (socket: Socket, request: number) => void) {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", () => onRequest(socket, requests++));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connections = new KeptConnections({ host: "127.0.0.1", port });
  onTestFinished(() => {
    connections.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const send = async (signal?: AbortSignal): Promise<string> => {
    using scope = new RequestScope("GET /", new ManualClock(), 60_000, signal);
    const text = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
    return (await connections.exchange({ method: "GET", text, maxBytes: 100 }, scope)).body;
  };
  return { sockets, send };
}

test("requests one after the other share a connection, those at one time do not", async () => {
  const { send, sockets } = await byteServer((socket) => socket.write(answer));
  await send();
  await send();
  expect(sockets).toHaveLength(1);
  await Promise.all([send(), send(), send()]);
  expect(sockets).toHaveLength(3);
});

test("a connection that the server has closed is not used again", async () => {
  const { send, sockets } = await byteServer((socket) => socket.write(answer));
  await send();
  const [first] = sockets;
  first?.end();
  await once(first as Socket, "close");
  expect(await send()).toBe("ok");
  expect(sockets).toHaveLength(2);
});

test("what comes without a request is not taken for the answer to the next", async () => {
  const { send, sockets } = await byteServer((socket) => socket.write(answer));
  await send();
  const [first] = sockets;
  first?.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil");
  await once(first as Socket, "close");
  expect(await send()).toBe("ok");
});

test("more bytes than the answer has end the connection", async () => {
  const { send, sockets } = await byteServer((socket, n) => {
    socket.write(n === 0 ? `${answer}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil` : answer);
  });
  expect(await send()).toBe("ok");
  expect(await send()).toBe("ok");
  expect(sockets).toHaveLength(2);
});

test("an answer that breaks off fails its request, and only that", async () => {
  const { send } = await byteServer((socket, n) => {
    if (n === 0) socket.end(answer.slice(0, -1));
    else socket.write(answer);
  });
  await expect(send()).rejects.toThrow("closed before the response was complete");
  expect(await send()).toBe("ok");
});

test("aborting a request ends its connection; aborting it later does not touch the next request", async () => {
  const { send, sockets } = await byteServer((socket, n) => {
    if (n !== 0) socket.write(answer);
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const aborted = send(first.signal);
  await expect.poll(() => sockets.length).toBe(1);
  first.abort();
  await expect(aborted).rejects.toThrow("aborted");
  await send(second.signal);
  const next = send();
  second.abort();
  expect(await next).toBe("ok");
  expect(sockets).toHaveLength(2);
});

test("at most 64 connections are open, and whoever waits for one gets the next that is free", async () => {
  const held: Socket[] = [];
  const { send, sockets } = await byteServer((socket) => void held.push(socket));
  const all = Array.from({ length: 70 }, () => send());
  const impatient = new AbortController();
  const givenUp = send(impatient.signal);
  await expect.poll(() => held.length).toBe(64);
  impatient.abort();
  await expect(givenUp).rejects.toThrow("aborted");
  // A connection that breaks makes room as well as one that is answered.
  held[0]?.destroy();
  await expect(all[0]).rejects.toThrow();
  for (let n = 1; n < 71; n++) {
    await expect.poll(() => held.length).toBeGreaterThan(n);
    held[n]?.write(answer);
    if (n === 69) break;
  }
  expect(await Promise.all(all.slice(1))).toHaveLength(69);
  expect(sockets).toHaveLength(65);
});

test("a server that cannot be reached fails the request", async () => {
  const scope = new RequestScope("GET /", new ManualClock(), 60_000, undefined);
  const nowhere = new KeptConnections({ host: "127.0.0.1", port: 1 });
  const lost = { method: "GET", text: "x", maxBytes: 1 };
  await expect(nowhere.exchange(lost, scope)).rejects.toThrow("ECONNREFUSED");
});
