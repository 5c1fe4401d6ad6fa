import { connect, type TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { StartedServer } from "./testing/started-server.ts";

/** Opens a connection and asks for `/healthz`: the status line, or that there was none. */
function open({ server, authority }: StartedServer): Promise<{ said: string; socket: TLSSocket }> {
  const socket = connect({
    ...{ host: "127.0.0.1", port: server.port, ca: authority.bundle },
    servername: "virt-api.kubevirt.svc",
  });
  return new Promise((resolve) => {
    socket.once("data", (data) => resolve({ said: String(data).split("\r\n")[0] ?? "", socket }));
    // `close` follows.
    socket.on("error", () => {});
    socket.once("close", () => resolve({ said: "cut off", socket }));
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  });
}

test("cuts off connections over the limit; open ones continue, and one that ends makes room", async () => {
  await using limited = await StartedServer.start({ limits: { connections: 2 } });
  const [first, second] = [await open(limited), await open(limited)];
  expect([first.said, second.said]).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"]);
  expect((await open(limited)).said).toBe("cut off");
  // One that was open before still is, and is answered.
  const again = new Promise<string>((resolve) => {
    first.socket.once("data", (data) => resolve(String(data)));
  });
  first.socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  expect(await again).toContain("200 OK");

  second.socket.destroy();
  await expect.poll(async () => (await open(limited)).said).toBe("HTTP/1.1 200 OK");
  first.socket.destroy();

  // The control has room for three.
  await using control = await StartedServer.start({ limits: { connections: 3 } });
  const all = [await open(control), await open(control), await open(control)];
  expect(all.map(({ said }) => said)).toEqual(Array.from({ length: 3 }, () => "HTTP/1.1 200 OK"));
  for (const { socket } of all) socket.destroy();
});

test("keeps a connection after a request without a body that is answered at once", async () => {
  await using started = await StartedServer.start();
  const { socket } = await open(started);
  for (const attempt of [1, 2, 3]) {
    const answer = new Promise<string>((resolve) => {
      socket.once("data", (data) => resolve(String(data)));
      socket.once("close", () => resolve("cut off"));
    });
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    expect([attempt, (await answer).slice(0, 15)]).toEqual([attempt, "HTTP/1.1 200 OK"]);
  }
  socket.destroy();
});
