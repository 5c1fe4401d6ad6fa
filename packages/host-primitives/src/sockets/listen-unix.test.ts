import { linkSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OwnedFd } from "../owned-fd.ts";
import { openRoot } from "../safe-path/index.ts";
import { openDescriptors, temporaryDirectory } from "../testing/host-fixtures.ts";
import { connectUnix, listenUnix, peerUser, receiveDescriptors, sendDescriptors } from "./index.ts";

/** The first connection to a listener, which keeps listening until the signal. */
async function first(connections: AsyncIterable<OwnedFd>): Promise<OwnedFd> {
  for await (const connection of connections) return connection;
  throw new Error("the listener ended without a connection");
}

test("yields connections of known users, and only users with access can connect", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "socket");
  using listener = listenUnix(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const accepted = first(listener.connections());
  const client = connect(path);
  using connection = await accepted;
  expect(peerUser(connection)).toEqual({ uid: process.getuid?.(), gid: process.getgid?.() });
  client.destroy();
});

test("receives descriptors over a sequential connection, in messages as sent", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "socket");
  using root = openRoot(directory.path);
  using listener = listenUnix(path, { type: "sequential" });
  using socket = root.resolve("/socket");
  const accepted = first(listener.connections());
  using client = await connectUnix(socket, { type: "sequential" });
  using server = await accepted;
  sendDescriptors(client, Buffer.from("one"), [client]);
  sendDescriptors(client, Buffer.from("two"), []);
  const one = receiveDescriptors(server);
  expect([String(one.data), one.descriptors.length]).toEqual(["one", 1]);
  expect(String(receiveDescriptors(server).data)).toBe("two");
  one.descriptors[0]?.close();
});

test("rejects a name that is taken, and leaves nothing open", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "socket");
  const before = openDescriptors();
  const listener = listenUnix(path);
  linkSync(path, `${path}-2`);
  expect(() => listenUnix(`${path}-2`)).toThrow(
    expect.objectContaining({ errno: "EADDRINUSE", syscall: "bind" }),
  );
  listener.close();
  expect(openDescriptors()).toBe(before);
});

test("ends by its signal and by close", async () => {
  using directory = temporaryDirectory();
  for (const how of ["signal", "close"] as const) {
    const listener = listenUnix(join(directory.path, how));
    const controller = new AbortController();
    const pending = first(listener.connections(controller));
    pending.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    if (how === "signal") controller.abort();
    else listener.close();
    await expect(pending).rejects.toThrow(/without a connection/);
    const refused = new Promise((resolve) =>
      connect(join(directory.path, how)).once("error", resolve),
    );
    expect(await refused).toMatchObject({ code: "ECONNREFUSED" });
  }
});
