import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { root } from "./setup.mjs";

/** @typedef {import("node:events").EventEmitter & { send(data: Buffer): void, terminate(): void }} Socket */
/** @typedef {new (url: string, protocol: string, options: object) => Socket} SocketClass */

/** Ctrl-], as in telnet and virtctl. */
const leave = 0x1d;

/**
 * The serial console of a VMI through the API server, on this terminal, until Ctrl-] or its end.
 * @param {string} kubeconfig
 * @param {{ namespace: string, name: string }} vmi
 * @returns {Promise<string>} why it ended
 */
export async function openConsole(kubeconfig, { namespace, name }) {
  /** @type {{ WebSocket: SocketClass }} */
  const { WebSocket } = createRequire(path.join(root, "packages/cli/package.json"))("ws");
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const place = `namespaces/${namespace}/virtualmachineinstances/${name}/console`;
  const url = `${server.replace(/^http/, "ws")}/apis/subresources.kubevirt.io/v1/${place}`;
  const socket = new WebSocket(url, "plain.kubevirt.io", {
    ca: Buffer.from(data, "base64"),
    headers: { authorization: `Bearer ${users[0].user.token}` },
  });
  const ended = Promise.race([
    once(socket, "close").then(() => "the console was closed"),
    once(socket, "error").then(([error]) => `the console could not be opened: ${error.message}`),
  ]);
  // A handshake that was refused emits the error a second time once it is terminated.
  socket.on("error", () => {});
  let isOpen = false;
  socket.once("open", () => {
    isOpen = true;
  });
  socket.on("message", (/** @type {Buffer} */ chunk) => process.stdout.write(chunk));
  const onKey = (/** @type {Buffer} */ keys) => {
    if (keys.includes(leave)) socket.terminate();
    else if (isOpen) socket.send(keys);
  };
  process.stdin.on("data", onKey);
  try {
    return await ended;
  } finally {
    process.stdin.off("data", onKey);
    socket.terminate();
  }
}
