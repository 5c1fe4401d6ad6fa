// A launcher's part: receives sockets from the node agent, drops its privileges, and serves the
// guest.
import { setTimeout as sleep } from "node:timers/promises";
import { hasErrno, OwnedFd } from "@virtkit/host-primitives";
import { receiveDescriptors, sendDescriptors } from "@virtkit/host-primitives/sockets";
import { startGuestServers } from "@virtkit/network-setup/serve";

const channel = new OwnedFd(3, "the node agent");

/** Waits for a message; the channel does not block. */
async function receive() {
  for (;;) {
    try {
      return receiveDescriptors(channel);
    } catch (error) {
      if (!hasErrno(error, "EAGAIN")) throw error;
      await sleep(10);
    }
  }
}

const { data, descriptors } = await receive();
const { names, serverMac, servers, identity } = JSON.parse(data.toString());
const sockets = Object.fromEntries(
  names.map((/** @type {string} */ name, /** @type {number} */ index) => [
    name,
    descriptors[index],
  ]),
);
process.setgroups?.([]);
process.setgid?.(107);
process.setuid?.(107);
const running = await startGuestServers({ ...sockets, serverMac }, servers, identity);
/** @param {unknown} value */
const answer = (value) => sendDescriptors(channel, Buffer.from(JSON.stringify(value)), []);
answer({ uid: process.getuid?.() });
for (;;) {
  const { data: question } = await receive();
  if (question.length === 0) process.exit(0);
  answer(running.counters);
}
