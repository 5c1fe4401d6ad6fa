import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { forwardUdp, type UdpLimits } from "./forward-udp.ts";

async function bound(): Promise<Socket> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    socket.close();
  });
  return socket;
}

/** A guest that answers with the port it was asked from, and a forwarder in front of it. */
async function forwarder(limits?: UdpLimits): Promise<{ port: number; guest: Socket }> {
  const guest = await bound();
  guest.on("message", (data, from) => guest.send(`${data} from ${from.port}`, from.port));
  const socket = await bound();
  forwardUdp(socket, { address: "127.0.0.1", port: guest.address().port }, limits);
  return { port: socket.address().port, guest };
}

async function ask(client: Socket, port: number, question: string): Promise<string> {
  client.send(question, port, "127.0.0.1");
  const [answer] = (await once(client, "message")) as [Buffer];
  return String(answer);
}

test("each peer gets its own answers, and keeps its path while it speaks", async () => {
  const { port } = await forwarder();
  const [one, other] = [await bound(), await bound()];
  const first = await ask(one, port, "a");
  expect(first).toMatch(/^a from \d+$/);
  expect(await ask(other, port, "a")).not.toBe(first);
  expect(await ask(one, port, "a")).toBe(first);
});

test("a peer above the limit replaces the one that was silent longest", async () => {
  const { port } = await forwarder({ peers: 2, idle: 60_000 });
  const [one, two, three] = [await bound(), await bound(), await bound()];
  const first = await ask(one, port, "a");
  const second = await ask(two, port, "a");
  expect(await ask(one, port, "a")).toBe(first);
  await ask(three, port, "a");
  expect(await ask(one, port, "a")).toBe(first);
  expect(await ask(two, port, "a")).not.toBe(second);
});

test("forgets a silent peer", async () => {
  const { port, guest } = await forwarder({ peers: 2, idle: 20 });
  const client = await bound();
  // Seen by the guest: an answer may come when its way back is already forgotten.
  const seenFrom = async (): Promise<number> => {
    const heard = once(guest, "message");
    client.send("a", port, "127.0.0.1");
    const [, from] = (await heard) as [Buffer, { port: number }];
    return from.port;
  };
  const first = await seenFrom();
  let next = first;
  while (next === first) {
    await sleep(50);
    next = await seenFrom();
  }
  expect(next).not.toBe(first);
});
