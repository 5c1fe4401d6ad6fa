import { once } from "node:events";
import { connect, Socket } from "node:net";
import { expect, test } from "vitest";
import { openDescriptors } from "../testing/host-fixtures.ts";
import { listenTcp } from "./index.ts";

test.each(["127.0.0.1", "::1"])(
  "yields connections to %s as descriptors that Node can use",
  async (address) => {
    const before = openDescriptors();
    const listener = listenTcp({ address });
    expect(listener.port).toBeGreaterThan(0);
    const client = connect(listener.port, address);
    for await (const connection of listener.connections()) {
      const socket = new Socket({ fd: connection.release() });
      socket.end("hello");
      const [data] = await once(client, "data");
      expect(String(data)).toBe("hello");
      const ended = Promise.all([once(client, "close"), once(socket.resume(), "close")]);
      client.end();
      await ended;
      listener.close();
    }
    await expect.poll(openDescriptors).toBe(before);
  },
);

test("rejects a port in use and an invalid address, and leaves nothing open", async () => {
  const before = openDescriptors();
  using listener = listenTcp({ address: "127.0.0.1" });
  const { port } = listener;
  expect(() => listenTcp({ address: "127.0.0.1", port })).toThrow(
    expect.objectContaining({ errno: "EADDRINUSE", syscall: "bind" }),
  );
  expect(() => listenTcp({ address: "localhost" })).toThrow(
    expect.objectContaining({ code: "HOST_ARGUMENT_INVALID" }),
  );
  listener.close();
  expect(openDescriptors()).toBe(before);
});
