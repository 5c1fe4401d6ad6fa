/** One process of the proxy's benchmark: `source`, `target`, `generator` or `sink`; told what to do over IPC. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import { startSourceProxy, startTargetProxy } from "@virtkit/migration/proxy";

/** @param {unknown} message */
const tell = (message) => process.send?.(message);

const limits = { setup: 60_000 };

const roles = {
  /** @param {{ uid: string, credentials: import("@virtkit/pki").Credentials, sink: string }} options */
  target: async ({ uid, credentials, sink }) => {
    const dial = async () => {
      const socket = connect({ path: sink, allowHalfOpen: true });
      await once(socket, "connect");
      return socket;
    };
    const { controlPort, dataPort } = await startTargetProxy({
      uid,
      credentials,
      limits,
      address: "127.0.0.1",
      channels: [
        { name: "memory", kind: "data", dial },
        { name: "sealed", kind: "sealed", dial },
      ],
    });
    tell({ controlPort, dataPort });
  },
  /**
   * @param {{ uid: string, credentials: import("@virtkit/pki").Credentials, path: string, sealedPath: string,
   *   target: { controlPort: number, dataPort: number } }} options
   */
  source: async ({ uid, credentials, path, sealedPath, target }) => {
    await startSourceProxy({
      uid,
      credentials,
      limits,
      target: { host: "127.0.0.1", ...target },
      channels: [
        { name: "memory", kind: "data", listener: listenUnix(path) },
        { name: "sealed", kind: "sealed", listener: listenUnix(sealedPath) },
      ],
    });
    tell("ready");
  },
  /** Tells the bytes of each connection. @param {{ path: string }} options */
  sink: async ({ path }) => {
    const server = createServer((socket) => {
      let bytes = 0;
      socket.on("data", (data) => {
        bytes += data.length;
      });
      socket.once("end", () => tell({ bytes }));
      // A peer that breaks has reported too few bytes.
      socket.on("error", () => tell({ bytes: -1 }));
    });
    server.listen(path);
    await once(server, "listening");
    tell("ready");
  },
  /** Sends the given number of MiB to each of the given paths. */
  generator: async () => {
    const block = Buffer.alloc(1 << 20, 7);
    process.on(
      "message",
      (/** @type {{ path: string, mebibytes: number }} */ { path, mebibytes }) => {
        const socket = connect(path).resume();
        let left = mebibytes;
        const next = () => {
          if (left-- > 0) socket.write(block, next);
          else socket.end();
        };
        next();
      },
    );
    tell("ready");
  },
};

const [role, options] = process.argv.slice(2);
await roles[/** @type {keyof typeof roles} */ (role)](JSON.parse(options ?? "{}"));
