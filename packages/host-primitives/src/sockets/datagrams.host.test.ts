import { expect, test } from "vitest";
import { receiveDatagram, sendDatagram } from "./datagrams.ts";
import { openSocket } from "./open-socket.ts";
import { watchReadable } from "./watch-readable.ts";

/** A request for all links: length 20, type RTM_GETLINK, flags "request" and "dump". */
const listLinks = Buffer.from("140000001200010301000000000000000000000000".slice(0, 40), "hex");

test("a question to the kernel is answered at once, and then there is nothing", () => {
  using socket = openSocket({ kind: "netlink", protocol: 0 });
  expect(receiveDatagram(socket)).toBeUndefined();
  sendDatagram(socket, listLinks);
  const answer = receiveDatagram(socket);
  expect(answer?.truncated).toBe(false);
  expect(answer?.data.length).toBeGreaterThan(100);
  expect(answer?.from).toBeUndefined();
});

test("what does not fit says so", () => {
  using socket = openSocket({ kind: "netlink", protocol: 0 });
  sendDatagram(socket, listLinks);
  expect(receiveDatagram(socket, 16)).toMatchObject({ truncated: true });
});

test("a raw socket wakes the event loop, with the sender's address, until it is no longer watched", async () => {
  using socket = openSocket({ kind: "icmp6", types: [129] });
  const senders: (string | undefined)[] = [];
  const errors: unknown[] = [];
  const watch = watchReadable(
    socket,
    () => {
      senders.push(receiveDatagram(socket)?.from);
      throw new Error("of the reader");
    },
    (error) => errors.push(error),
  );
  const echo = Buffer.from("8000000012340001", "hex");
  sendDatagram(socket, echo, "::1");
  await expect.poll(() => senders.length).toBe(1);
  expect(senders).toEqual(["0:0:0:0:0:0:0:1"]);
  expect(errors).toHaveLength(1);
  watch[Symbol.dispose]();
  watch[Symbol.dispose]();
  sendDatagram(socket, echo, "::1");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(senders).toHaveLength(1);
});

test("a socket is watched once, and nothing but a socket", () => {
  using socket = openSocket({ kind: "netlink", protocol: 0 });
  using watch = watchReadable(
    socket,
    () => {},
    () => {},
  );
  expect(watch).toBeDefined();
  const again = (): Disposable =>
    watchReadable(
      socket,
      () => {},
      () => {},
    );
  expect(again).toThrow(/watched already/);
});

test("a group is joined on a link, and a link that is not there is named", () => {
  const groups = ["ff02::1:2"];
  openSocket({ kind: "udp6", device: "lo", groups }).close();
  expect(() => openSocket({ kind: "udp6", device: "none0", groups })).toThrow(/none0/);
});
