import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../testing/handover-fixture.ts";
import { ControlLink } from "./control-link.ts";
import { ControlServer } from "./control-server.ts";

const directory = temporaryDirectory(afterEach);

async function serving(): Promise<{ server: ControlServer; dial: () => Promise<Socket> }> {
  const path = join(directory(), "served");
  const server = await ControlServer.listen(path, async (method) => ({ method }));
  onTestFinished(() => server.close());
  const dial = async (): Promise<Socket> => {
    const socket = connect({ path });
    // A peer that is refused or cut off sees it by its close.
    socket.on("error", () => {}).resume();
    await once(socket, "connect");
    return socket;
  };
  return { server, dial };
}

test("keeps nothing of links that have ended, however often a peer connects", async () => {
  const { server, dial } = await serving();
  for (let count = 0; count < 20; count++) {
    const socket = await dial();
    expect(await new ControlLink(socket).call("state", {})).toEqual({ method: "state" });
    expect(server.links).toBe(1);
    socket.destroy();
    await expect.poll(() => server.links, { interval: 1 }).toBe(0);
  }
});

test("holds eight links of a peer at once, and no more", async () => {
  const { server, dial } = await serving();
  const sockets = await Promise.all(Array.from({ length: 12 }, dial));
  await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBe(4);
  expect(server.links).toBe(8);
});

test("its end ends every link, and the path is free again", async () => {
  const { server, dial } = await serving();
  const socket = await dial();
  await expect.poll(() => server.links).toBe(1);
  server.close();
  if (!socket.closed) await once(socket, "close");
  await expect.poll(() => server.links).toBe(0);
});

test("reports a path that it cannot listen on", async () => {
  const nowhere = join(directory(), "no", "such", "place");
  await expect(ControlServer.listen(nowhere, async () => ({}))).rejects.toMatchObject({
    syscall: "listen",
  });
});
