// Both proxies of a migration, in a network namespace of their own that this process cuts silently. It gets its configuration as
// the first message, and reports which streams have survived the cut.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { startSourceProxy, startTargetProxy } from "@virtkit/migration/proxy";
import { CertificateAuthority, migrationIdentity } from "@virtkit/pki";

/** @typedef {{ name: string, socket: import("node:net").Socket, endedAfter?: number }} Stream */

/** @type {Stream[]} */
const streams = [];

/** @param {string} name @param {import("node:net").Socket} socket */
async function watch(name, socket) {
  // Its end is what counts.
  socket.on("error", () => {});
  await once(socket, "connect");
  /** @type {Stream} */
  const stream = { name, socket };
  // A proxy can only end a unix socket, and only break a TCP one.
  for (const event of ["end", "close"]) {
    socket.once(event, () => {
      stream.endedAfter ??= performance.now() - cutAt;
    });
  }
  streams.push(stream);
  await echo(socket);
}

let cutAt = Number.NaN;

/** @param {import("node:net").Socket} socket */
async function echo(socket) {
  socket.write("are you there?");
  await once(socket, "data");
}

/** @param {string} command */
const nft = (command) => execFileSync("nft", [command], { timeout: 10_000 });

/** The network is silent for so many milliseconds. @param {number} duration @param {() => void} [meanwhile] */
async function silence(duration, meanwhile) {
  nft(
    "add table inet cut; add chain inet cut in { type filter hook input priority 0; policy drop; }",
  );
  cutAt = performance.now();
  meanwhile?.();
  await sleep(duration);
  nft("delete table inet cut");
}

/** Whether a stream carries something that is opened now. @param {string} path */
async function opens(path) {
  const socket = connect({ path, allowHalfOpen: true });
  const no = () => false;
  // A proxy ends or breaks what it cannot carry.
  const isClosed = once(socket, "close").then(no, no);
  return await Promise.race([echo(socket).then(() => true, no), isClosed]);
}

/** @param {{ uid: string, directory: string, stalls: number[], naive: number, cut: number, openings: number[] }} config */
async function play({ uid, directory, stalls, naive, cut, openings }) {
  execFileSync("ip", ["link", "set", "lo", "up"]);
  const store = { read: async () => undefined, swap: async () => true };
  const authority = await CertificateAuthority.open({ store, trustDomain: "lab" });
  const server = createServer((socket) => socket.on("error", () => {}).pipe(socket));
  const echoes = join(directory, "echo");
  await once(server.listen(echoes), "listening");
  for (const stall of stalls) {
    const target = await startTargetProxy({
      ...{ uid, address: "127.0.0.1", limits: { stall } },
      credentials: await authority.issue(migrationIdentity(uid, "target")),
      channels: /** @type {const} */ (["control", "data"]).map((kind) => ({
        ...{ name: kind, kind },
        dial: async () => {
          const socket = connect({ path: echoes, allowHalfOpen: true });
          await once(socket, "connect");
          return socket;
        },
      })),
    });
    const { controlPort, dataPort } = target;
    const file = (/** @type {string} */ kind) => join(directory, `${stall}-${kind}`);
    await startSourceProxy({
      ...{ uid, limits: { stall }, target: { host: "127.0.0.1", controlPort, dataPort } },
      credentials: await authority.issue(migrationIdentity(uid, "source")),
      channels: /** @type {const} */ (["control", "data"]).map((kind) => {
        return { name: kind, kind, listener: listenUnix(file(kind)) };
      }),
    });
    for (const kind of ["control", "data"]) {
      await watch(`${kind}, ${stall}`, connect({ path: file(kind), allowHalfOpen: true }));
    }
  }
  const plain = createServer((socket) => socket.on("error", () => {}).pipe(socket));
  await once(plain.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (plain.address());
  const socket = connect({ host: "127.0.0.1", port });
  socket.setKeepAlive(true, naive);
  await watch("naive", socket);

  await silence(cut);
  /** @type {Record<string, number | "goes on">} */
  const outcome = {};
  for (const { name, socket, endedAfter } of streams) {
    if (endedAfter === undefined) await echo(socket);
    outcome[name] = endedAfter === undefined ? "goes on" : Math.round(endedAfter);
  }
  /** @type {Record<string, boolean>} */
  const opened = {};
  for (const duration of openings) {
    /** @type {Promise<boolean>[]} */
    const opening = [];
    const kinds = ["control", "data"];
    await silence(duration, () => {
      opening.push(...kinds.map((kind) => opens(join(directory, `${stalls[0]}-${kind}`))));
    });
    const isOpen = await Promise.all(opening);
    for (const [index, kind] of kinds.entries()) {
      opened[`${kind}, ${duration}`] = isOpen[index] === true;
    }
  }
  process.send?.({ outcome, opened });
}

process.once("message", (config) => {
  play(/** @type {any} */ (config)).catch((error) => process.send?.({ failed: String(error) }));
});
process.on("disconnect", () => process.exit(0));
