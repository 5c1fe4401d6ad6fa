import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { root } from "./setup.mjs";

/** @typedef {import("node:events").EventEmitter & { send(data: Buffer): void, terminate(): void }} Socket */
/** @typedef {new (url: string, protocol: string, options: object) => Socket} SocketClass */

/** Ctrl-], as in telnet and virtctl. */
const leave = 0x1d;

/** @typedef {{ stdin: NodeJS.ReadableStream, stdout: NodeJS.WritableStream }} Terminal */

/**
 * The serial console of a VMI through the API server, on a terminal, until Ctrl-], its end or the signal.
 * @param {string} kubeconfig
 * @param {{ namespace: string, name: string }} vmi
 * @param {AbortSignal} signal
 * @param {Terminal} [terminal] default: that of this process
 * @returns {Promise<string>} why it ended, unless the user left it
 */
export async function openConsole(kubeconfig, { namespace, name }, signal, terminal = process) {
  const { stdin, stdout } = terminal;
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
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    socket.on("close", () => resolve("the console was closed"));
    // A refused handshake emits the error a second time once it is terminated.
    socket.on("error", ({ message }) => resolve(`the console could not be opened: ${message}`));
  });
  /** What is typed before the console is open. @type {Buffer[] | undefined} */
  let early = [];
  let isLeft = false;
  socket.once("open", () => {
    for (const keys of early ?? []) socket.send(keys);
    early = undefined;
  });
  socket.on("message", (/** @type {Buffer} */ chunk) => stdout.write(chunk));
  const onKey = (/** @type {Buffer} */ keys) => {
    isLeft ||= keys.includes(leave);
    if (isLeft) socket.terminate();
    else if (early) early.push(keys);
    else socket.send(keys);
  };
  stdin.on("data", onKey);
  const onAbort = () => socket.terminate();
  signal.addEventListener("abort", onAbort);
  try {
    const why = await ended;
    return isLeft ? "" : why;
  } finally {
    stdin.off("data", onKey);
    signal.removeEventListener("abort", onAbort);
    socket.terminate();
  }
}
