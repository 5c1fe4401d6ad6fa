// Runs in a guest whose kernel has VSOCK modules that this host's may lack. Shows what the dialer says before they are loaded, and
// what it carries over the kernel's loopback afterwards. Prints one line of JSON. Arguments: a file with
// credentials, and the module with the dialer.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:tls";
import { connectVsock, listenVsock, socketStream } from "@virtkit/host-primitives/sockets";

const [credentials = "", module = ""] = process.argv.slice(2);
const { shown, guest } = JSON.parse(readFileSync(credentials, "utf8"));
/** @type {typeof import("../guest-server/dial-vsock.ts")} */
const { vsockDialer } = await import(module);
const { signal } = new AbortController();
/** This host itself. */
const self = 1;

/** @param {() => Promise<unknown>} work */
async function failure(work) {
  try {
    await work();
    return "none";
  } catch (error) {
    const { code, errno, message } = /** @type {any} */ (error);
    return { code, errno, message };
  }
}

/** @param {import("node:stream").Duplex} stream @param {Buffer} sent */
async function echoed(stream, sent) {
  const hash = createHash("sha256");
  stream.on("data", (part) => hash.update(part));
  stream.end(sent);
  await once(stream, "end");
  return hash.digest("hex") === createHash("sha256").update(sent).digest("hex");
}

const dial = vsockDialer({ credentials: async () => shown });
const before = {
  dialer: await failure(() => dial({ cid: 7, port: 22, tls: false }, { signal })),
  socket: await failure(() => connectVsock({ cid: 7, port: 22 })),
};

for (const module of readFileSync("/modules/spare", "utf8").trim().split("\n")) {
  spawnSync("insmod", [`/modules/${module}`], { stdio: "inherit" });
}
const loaded = existsSync("/sys/class/misc/vhost-vsock");

const plain = listenVsock({ cid: self, port: 1000 });
void (async () => {
  for await (const connection of plain.connections()) {
    const stream = socketStream(connection);
    stream.on("error", () => {});
    stream.pipe(stream);
  }
})();
/** @type {string[]} */
const seen = [];
const secure = listenVsock({ cid: self, port: 1001 });
const server = createServer({
  ...{ requestCert: true, rejectUnauthorized: false, minVersion: "TLSv1.3" },
  ...{ cert: guest.certificate, key: guest.privateKey, ca: guest.authorities },
});
server.on("secureConnection", (stream) => {
  const { subjectaltname = "" } = stream.getPeerCertificate();
  seen.push(`${subjectaltname} ${stream.authorized ? "trusted" : "not trusted"}`);
  stream.pipe(stream);
});
void (async () => {
  for await (const connection of secure.connections()) {
    server.emit("connection", socketStream(connection));
  }
})();

const near = vsockDialer({
  credentials: async () => shown,
  // The guest with the CID 7 is this host itself.
  connect: async ({ port }, options) =>
    socketStream(await connectVsock({ cid: self, port }, options)),
});
const result = {
  before,
  loaded,
  plain: await echoed(
    await near({ cid: 7, port: 1000, tls: false }, { signal }),
    Buffer.alloc(5 << 20, "guest"),
  ),
  secure: await echoed(
    await near({ cid: 7, port: 1001, tls: true }, { signal }),
    Buffer.alloc(1 << 20, "x"),
  ),
  seen,
  notTls: await failure(() => near({ cid: 7, port: 1000, tls: true }, { signal })),
  closedPort: await failure(() => near({ cid: 7, port: 9, tls: false }, { signal })),
  noGuest: await failure(() => dial({ cid: 7, port: 22, tls: false }, { signal })),
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
