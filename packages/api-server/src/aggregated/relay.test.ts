import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { realClock } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { relay } from "./relay.ts";

const chunk = Buffer.alloc(16 * 1024);

/** A client that sends as long as it is read; it counts what was taken from it. */
function flooding(): { readonly client: Duplex; readonly taken: () => number } {
  let taken = 0;
  const client = new Duplex({
    read() {
      taken += chunk.length;
      setImmediate(() => this.push(chunk));
    },
    write: (_chunk, _encoding, done) => done(),
  });
  return { client, taken: () => taken };
}

/** A node that takes nothing: what is written to it stays in this process. */
function deaf(): Duplex {
  return new Duplex({ read() {}, write() {} });
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

test("stops reading from a client that floods a node that does not read, so memory stays bounded", async () => {
  const { client, taken } = flooding();
  const node = deaf();
  const stop = new AbortController();
  const ended = relay(client, node, {
    clock: realClock,
    pingInterval: 60_000,
    signal: stop.signal,
  });
  await turns(2000);
  expect(node.writableLength).toBeLessThanOrEqual(128 * 1024);
  expect(taken()).toBeLessThanOrEqual(256 * 1024);
  stop.abort();
  await ended;

  // The control passes on without asking whether it may.
  const control = flooding();
  const piled = deaf();
  control.client.on("data", (data: Buffer) => piled.write(data));
  await turns(2000);
  expect(piled.writableLength).toBeGreaterThan(4 * 1024 * 1024);
  control.client.destroy();
  piled.destroy();
});
