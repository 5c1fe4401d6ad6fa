// A migration's proxy in its own process, so that it can be in a node's network. It gets its configuration as
// the first message, and answers with its ports or with what is wrong.
import { once } from "node:events";
import { connect } from "node:net";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { startSourceProxy, startTargetProxy } from "@virtkit/migration/proxy";

/** @typedef {{ name: string, kind: "control" | "data", path: string }} Channel */

/** @param {string} path */
async function dial(path) {
  const socket = connect({ path, allowHalfOpen: true });
  await once(socket, "connect");
  return socket;
}

/** @param {{ channels: readonly Channel[], address: string } & Parameters<typeof startTargetProxy>[0]} config */
async function startTarget({ channels, ...config }) {
  const dialled = channels.map(({ path, ...channel }) => ({ ...channel, dial: () => dial(path) }));
  const { controlPort, dataPort } = await startTargetProxy({ ...config, channels: dialled });
  return { controlPort, dataPort };
}

/** @param {{ channels: readonly Channel[] } & Omit<Parameters<typeof startSourceProxy>[0], "channels">} config */
async function startSource({ channels, ...config }) {
  const listening = channels.map(({ path, ...channel }) => ({
    ...channel,
    listener: listenUnix(path, { mode: 0o666 }),
  }));
  await startSourceProxy({ ...config, channels: listening });
  return {};
}

process.on("message", (/** @type {any} */ { side, ...config }) => {
  const starting = side === "target" ? startTarget(config) : startSource(config);
  starting.then(
    (ports) => process.send?.({ ports }),
    ({ code, message }) => process.send?.({ error: { code, message } }),
  );
});
process.on("disconnect", () => process.exit(0));
