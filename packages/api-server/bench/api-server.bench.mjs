import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls, createServer as createTls } from "node:tls";
import { fileURLToPath } from "node:url";
import { reviewAdmission } from "@virtkit/api/admission";
import { clusterConfig } from "@virtkit/api/config";
import { streamProtocol } from "@virtkit/api/subresources/node";
import { createApiServer } from "@virtkit/api-server";
import {
  apiServerIdentity,
  CertificateAuthority,
  FileAuthorityStore,
  nodeAgentIdentity,
  serverTlsOptions,
} from "@virtkit/pki";
import WebSocket, { WebSocketServer } from "ws";

const vmi = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "vm", namespace: "default", uid: "u" },
  spec: {
    architecture: "amd64",
    domain: {
      cpu: { cores: 2 },
      memory: { guest: "2Gi" },
      devices: {
        disks: Array.from({ length: 4 }, (_, i) => ({ name: `d${i}`, disk: { bus: "virtio" } })),
        interfaces: [{ name: "default", masquerade: {} }],
      },
    },
    networks: [{ name: "default", pod: {} }],
    volumes: Array.from({ length: 4 }, (_, i) => ({
      name: `d${i}`,
      persistentVolumeClaim: { claimName: `d${i}` },
    })),
  },
  status: { phase: "Running", nodeName: "node01" },
};
const review = JSON.stringify({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "u",
    resource: { group: "kubevirt.io", version: "v1", resource: "virtualmachineinstances" },
    operation: "CREATE",
    namespace: "default",
    userInfo: { username: "alice" },
    object: vmi,
  },
});
const config = clusterConfig({});
const folder = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
/** @type {Promise<Awaited<ReturnType<typeof start>>> | undefined} */
let parts;
const started = () => (parts ??= start());

/** The server, with a node that sends and swallows bytes. */
async function start() {
  const store = new FileAuthorityStore(folder);
  const authority = await CertificateAuthority.open({ store, trustDomain: "bench.example" });
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: () => streamProtocol,
  });
  const nodeCredentials = await authority.issue(nodeAgentIdentity("node01"));
  const node = createHttps(serverTlsOptions(nodeCredentials));
  node.on("upgrade", (incoming, socket, head) =>
    sockets.handleUpgrade(incoming, socket, head, (client) =>
      client.on("message", (data) => client.send(data)),
    ),
  );
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
  const client = {
    get: async () => vmi,
    create: async () => ({ metadata: {}, status: { allowed: true } }),
  };
  const credentials = await authority.issue(apiServerIdentity(), { dnsNames: ["bench"] });
  const server = await createApiServer({
    client: /** @type {any} */ (client),
    credentials: async () => credentials,
    // The clients have certificates of the same authority: their identity is not what is measured.
    frontProxy: {
      authorities: authority.bundle,
      allowedNames: [],
      headers: { user: ["x-remote-user"], uid: [], group: ["x-remote-group"], extraPrefix: [] },
    },
    nodeAgentAddress: async () => "127.0.0.1",
    nodeAgentPort: /** @type {any} */ (node.address()).port,
    bundles: false,
    listen: { port: 0, host: "127.0.0.1" },
    limits: { streams: { perVmi: 1000, inAll: 1000 }, ping: 60_000 },
  });
  const tls = {
    host: "127.0.0.1",
    port: server.port,
    servername: "bench",
    ca: authority.bundle,
    cert: credentials.certificate,
    key: credentials.privateKey,
  };
  return {
    server,
    node,
    nodeCredentials,
    tls,
    credentials,
  };
}

async function stop() {
  const all = await parts;
  parts = undefined;
  for (const child of await Promise.all(clients.values())) child.kill();
  clients.clear();
  for (const server of await Promise.all(bareServers.values())) {
    server.close();
    server.closeAllConnections();
  }
  bareServers.clear();
  if (!all) return;
  await all.server[Symbol.asyncDispose]();
  all.node.close();
  all.node.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */

/** @type {Map<number, Promise<ChildProcess>>} */
const clients = new Map();

/**
 * A process that sends reviews to a server, 8 at a time, over kept connections.
 * @param {number} port
 */
async function reviewer(port) {
  const { tls } = await started();
  const child =
    clients.get(port) ??
    (async () => {
      const file = fileURLToPath(new URL("review-client.mjs", import.meta.url));
      const forked = fork(file, [JSON.stringify({ tls: { ...tls, port }, review })]);
      await once(forked, "message");
      return forked;
    })();
  clients.set(port, child);
  return await child;
}

/** @param {ChildProcess} child */
async function sendReviews(child) {
  child.send({ count: 400 });
  await once(child, "message");
  return 400;
}

/** @type {Map<string, Promise<import("node:https").Server>>} */
const bareServers = new Map();
const knownAnswer = JSON.stringify(reviewAdmission(JSON.parse(review), config));

/** What a plain Node server does with a body. */
const bareWork = {
  /** Answers with as many bytes, without reading the body: what Node itself costs. */
  nothing: () => knownAnswer,
  /** Reads the body, applies the rules and writes the answer: the least that a review can cost with Node's HTTPS. */
  rules: (/** @type {Buffer} */ body) =>
    JSON.stringify(reviewAdmission(JSON.parse(body.toString()), config)),
};

/** @param {keyof typeof bareWork} work */
async function bare(work) {
  const { credentials } = await started();
  const { certificate: cert, privateKey: key } = credentials;
  const listening =
    bareServers.get(work) ??
    (async () => {
      const tls = { cert, key, minVersion: /** @type {const} */ ("TLSv1.3") };
      const server = createHttps({ ...tls, keepAliveTimeout: 90_000 }, (request, response) => {
        /** @type {Buffer[]} */
        const chunks = [];
        request.on("data", (part) => chunks.push(part));
        request.on("end", () => {
          const text = bareWork[work](Buffer.concat(chunks));
          const length = Buffer.byteLength(text);
          const answerHeaders = { "content-type": "application/json", "content-length": length };
          response.writeHead(200, answerHeaders).end(text);
        });
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    })();
  bareServers.set(work, listening);
  return /** @type {any} */ ((await listening).address()).port;
}

const headers = { "x-remote-user": "alice", "x-remote-group": "devs" };
const consolePath =
  "/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm/console";

/** @param {{ tls: object, server: { readonly port: number } }} all */
async function openConsole({ tls, server }) {
  const socket = new WebSocket(`wss://127.0.0.1:${server.port}${consolePath}`, streamProtocol, {
    ...tls,
    headers,
    perMessageDeflate: false,
  });
  await once(socket, "open");
  return socket;
}

const mebibytes = 64;
const chunk = Buffer.alloc(64 * 1024);

/** A review without a network: JSON is parsed and judged, and the answer is written. */
const jsonAndRules = {
  name: "JSON and rules",
  prepare: () => review,
  run: (/** @type {string} */ text) => {
    for (let i = 0; i < 200; i++) JSON.stringify(reviewAdmission(JSON.parse(text), config));
    return 200;
  },
};

export const benchmarks = [
  {
    name: "api-server: open and close a console",
    available: measureMemory,
    get goal() {
      return `${consoles} idle consoles with at most 1.3 times the memory of bare pairs of TLS sockets; ${memory}`;
    },
    subject: {
      name: "console",
      prepare: () => started(),
      run: async (/** @type {any} */ all) => {
        for (let i = 0; i < 20; i++) (await openConsole(all)).terminate();
        return 20;
      },
    },
  },
  {
    name: "api-server: a review over HTTPS with keep-alive, against the rules alone",
    goal: "at most 2.5 times the cost; this counts only the server's CPU, the client is another process",
    subject: {
      name: "over HTTPS",
      prepare: async () => reviewer((await started()).server.port),
      run: sendReviews,
    },
    baseline: jsonAndRules,
  },
  {
    name: "api-server: the same, against a plain Node server that reads, judges and writes",
    goal: "at least 0.77 x as fast (1.3 times the cost); what exceeds 1 is our share",
    subject: {
      name: "over HTTPS",
      prepare: async () => reviewer((await started()).server.port),
      run: sendReviews,
    },
    baseline: {
      name: "a bare server with the rules",
      prepare: async () => reviewer(await bare("rules")),
      run: sendReviews,
    },
  },
  {
    name: "api-server: a plain Node HTTPS server that only answers, against the rules alone",
    goal: "none; below 0.4 x, no Node server can stay within 2.5 times the rules",
    subject: {
      name: "a bare server",
      prepare: async () => reviewer(await bare("nothing")),
      run: sendReviews,
    },
    baseline: jsonAndRules,
  },
  {
    name: "api-server: a MiB through a console and back, against socat on plain TCP",
    clock: "wall",
    available: () => hasSocat(),
    subject: relayed("console", streamServer),
    baseline: {
      name: "socat",
      prepare: () => throughSocat(),
      run: async (
        /** @type {{ socket: import("node:net").Socket, end: () => void }} */ { socket, end },
      ) => {
        let left = mebibytes * 1024 * 1024;
        const done = new Promise((resolve) => {
          socket.on("data", (data) => {
            left -= data.length;
            if (left <= 0) resolve(undefined);
          });
        });
        for (let sent = 0; sent < mebibytes * 16; sent++) {
          if (!socket.write(chunk)) await once(socket, "drain");
        }
        await done;
        end();
        return mebibytes;
      },
    },
  },
  {
    name: "api-server: the same, against socat with TLS on both sides, between the same client and node",
    clock: "wall",
    available: () => hasSocat(),
    goal: "none; below 1 is what a relay in Node costs more than one in C",
    subject: relayed("console", streamServer),
    baseline: relayed("socat", tlsSocat),
    close: stop,
  },
];

/** @typedef {{ readonly socket: WebSocket, readonly child: ChildProcess }} Relayed */

/**
 * A console through a relay that is its own process; the client and the node are in this one.
 * @param {string} name
 * @param {() => Promise<{ port: number, child: ChildProcess }>} startRelay
 */
function relayed(name, startRelay) {
  return {
    name,
    prepare: async () => {
      const { port, child } = await startRelay();
      const { tls } = await started();
      return { socket: await openConsole({ tls: { ...tls, port }, server: { port } }), child };
    },
    run: async (/** @type {Relayed} */ { socket, child }) => {
      let left = mebibytes * 1024 * 1024;
      const done = new Promise((resolve) => {
        socket.on("message", (/** @type {Buffer} */ data) => {
          left -= data.length;
          if (left <= 0) resolve(undefined);
        });
      });
      for (let sent = 0; sent < mebibytes * 16; sent++) {
        socket.send(chunk);
        if (socket.bufferedAmount > 4 * 1024 * 1024)
          await new Promise((resolve) => setImmediate(resolve));
      }
      await done;
      socket.terminate();
      child.kill();
      return mebibytes;
    },
  };
}

/** The API server in its own process. */
async function streamServer() {
  const { credentials, node } = await started();
  const nodePort = /** @type {any} */ (node.address()).port;
  const child = forkStreams({ kind: "console", credentials, vmi, nodePort });
  const [{ port }] = await once(child, "message");
  return { port, child };
}

/** socat in its place: it terminates the client's TLS and uses TLS to the node. */
async function tlsSocat() {
  const { credentials, node } = await started();
  const pem = path.join(folder, "socat.pem");
  writeFileSync(pem, `${credentials.privateKey}\n${credentials.certificate}`, { mode: 0o600 });
  const port = await freePort();
  const nodePort = /** @type {any} */ (node.address()).port;
  const child = spawn(
    "socat",
    [
      "-b",
      "65536",
      `OPENSSL-LISTEN:${port},bind=127.0.0.1,fork,cert=${pem},verify=0`,
      `OPENSSL:127.0.0.1:${nodePort},cert=${pem},verify=0`,
    ],
    { stdio: "ignore" },
  );
  (await connected(port)).destroy();
  return { port, child };
}

async function hasSocat() {
  const child = spawn("socat", ["-V"], { stdio: "ignore" });
  const [code] = await once(child, "exit").catch(() => [1]);
  return code === 0 || "needs socat";
}

/** An echo behind socat, as the console's is behind the server. */
async function throughSocat() {
  const echo = createServer((socket) => socket.pipe(socket));
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  const port = await freePort();
  const target = `TCP:127.0.0.1:${/** @type {any} */ (echo.address()).port}`;
  const child = spawn("socat", ["-b", "65536", `TCP-LISTEN:${port},bind=127.0.0.1`, target], {
    stdio: "ignore",
  });
  const socket = await connected(port);
  const end = () => {
    socket.destroy();
    child.kill();
    echo.close();
  };
  return { socket, end };
}

async function freePort() {
  const free = createServer();
  free.listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = /** @type {any} */ (free.address());
  free.close();
  await once(free, "close");
  return port;
}

/** A connection to a port, once a process listens there. @param {number} port */
async function connected(port) {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isUp = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    if (isUp) return socket;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** @param {object} options */
function forkStreams(options) {
  const file = fileURLToPath(new URL("stream-process.mjs", import.meta.url));
  return fork(file, [JSON.stringify(options)], { execArgv: ["--expose-gc"] });
}

const consoles = 500;
let memory = "";

/** The memory that an idle console takes in the server, and that of a bare pair of TLS sockets. */
async function measureMemory() {
  if (!existsSync("/proc/self/status")) return "needs /proc to read memory";
  const { credentials, node, nodeCredentials, tls } = await started();
  const { certificate: cert, privateKey: key, authorities: ca } = nodeCredentials;
  const echo = createTls({ cert, key, ca }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.pipe(socket);
  });
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  const portOf = (/** @type {any} */ server) => server.address().port;
  const console = await idle(
    { kind: "console", credentials, vmi, nodePort: portOf(node) },
    (port) => openConsole({ tls: { ...tls, port }, server: { port } }),
  );
  const pairs = (/** @type {string} */ kind) =>
    idle({ kind, credentials, nodePort: portOf(echo) }, async (port) => {
      const socket = connectTls({ ...tls, port });
      await once(socket, "secureConnect");
      socket.write("x");
      await once(socket, "data");
      return { terminate: () => socket.destroy() };
    });
  const bare = await pairs("bare");
  // What a pair takes if all connections to nodes share one OpenSSL context, as those of the server do.
  const lean = await pairs("bare, one context");
  echo.close();
  const kibibytes = (/** @type {number} */ value) => `${value.toFixed(1)} KiB`;
  memory = `${kibibytes(console)} a console, ${kibibytes(bare)} a bare pair: ${(console / bare).toFixed(2)} times; with one TLS context for all pairs ${kibibytes(lean)}: ${(console / lean).toFixed(2)} times`;
  return true;
}

/**
 * @param {object} options
 * @param {(port: number) => Promise<{ terminate: () => void }>} open
 */
async function idle(options, open) {
  const child = forkStreams(options);
  const [{ port }] = await once(child, "message");
  const kilobytes = async () => {
    child.send({});
    const [answer] = await once(child, "message");
    return answer.kilobytes;
  };
  const sockets = [];
  const more = async (/** @type {number} */ count) => {
    for (let i = 0; i < count; i += 10) {
      sockets.push(...(await Promise.all(Array.from({ length: 10 }, () => open(port)))));
    }
  };
  // The first ones load what all of them share.
  await more(50);
  const before = await kilobytes();
  await more(consoles);
  const after = await kilobytes();
  for (const socket of sockets) socket.terminate();
  child.kill();
  return (after - before) / consoles;
}
