import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * @typedef {object} ApiServer
 * @property {string} url
 * @property {string} kubeconfig path of a kubeconfig of a member of system:masters
 * @property {() => Promise<void>} stop ends both processes and removes their folder
 */

/**
 * Starts etcd and kube-apiserver on loopback in their own folder and waits until /readyz is ok.
 * @param {{ kubeApiserver: string, etcd?: string, timeoutMs?: number }} options
 * @returns {Promise<ApiServer>}
 */
export async function startApiServer({
  kubeApiserver,
  etcd = process.env["VIRTKIT_ETCD"] ?? "etcd",
  timeoutMs = 120_000,
}) {
  const folder = await mkdtemp(path.join(tmpdir(), "virtkit-apiserver-"));
  /** @type {import("node:child_process").ChildProcess[]} */
  const children = [];
  const stop = async () => {
    await Promise.all(children.map(end));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [clientPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()]);
    const etcdUrl = `http://127.0.0.1:${clientPort}`;
    children.push(startEtcd(etcd, folder, etcdUrl, `http://127.0.0.1:${peerPort}`));
    const token = randomBytes(16).toString("hex");
    await writeFile(path.join(folder, "tokens.csv"), `${token},admin,admin,system:masters\n`);
    await makeFrontProxy(folder);
    children.push(startKubeApiserver(kubeApiserver, folder, etcdUrl, port));
    const url = `https://127.0.0.1:${port}`;
    const certificate = path.join(folder, "apiserver.crt");
    await waitUntilReady({ url, certificate, token, timeoutMs, children, folder });
    const kubeconfig = path.join(folder, "kubeconfig.json");
    await writeFile(kubeconfig, kubeconfigFor({ url, certificate, token }));
    return { url, kubeconfig, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * @param {string} etcd
 * @param {string} folder
 * @param {string} url
 * @param {string} peerUrl
 */
function startEtcd(etcd, folder, url, peerUrl) {
  return start(etcd, folder, "etcd", {
    "data-dir": path.join(folder, "etcd"),
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `default=${peerUrl}`,
    // The data is kept for one test run only: durability would only cost time.
    "unsafe-no-fsync": "true",
  });
}

/**
 * Creates the certificate by which servers of aggregated APIs recognize this API server, and its authority.
 * @param {string} folder
 */
async function makeFrontProxy(folder) {
  const options = { cwd: folder };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const authority = [
    "-keyout",
    "proxy-ca.key",
    "-out",
    "proxy-ca.crt",
    "-subj",
    "/CN=front-proxy-ca",
  ];
  await run("openssl", ["req", "-x509", "-days", "2", ...curve, ...authority], options);
  const client = ["-keyout", "proxy.key", "-out", "proxy.csr", "-subj", "/CN=front-proxy-client"];
  await run("openssl", ["req", "-new", ...curve, ...client], options);
  await writeFile(path.join(folder, "proxy.ext"), "extendedKeyUsage=clientAuth\n");
  const signer = ["-CA", "proxy-ca.crt", "-CAkey", "proxy-ca.key", "-CAcreateserial", "-days", "2"];
  const files = ["-in", "proxy.csr", "-out", "proxy.crt", "-extfile", "proxy.ext"];
  await run("openssl", ["x509", "-req", ...signer, ...files], options);
}

/**
 * @param {string} kubeApiserver
 * @param {string} folder
 * @param {string} etcdUrl
 * @param {number} port
 */
function startKubeApiserver(kubeApiserver, folder, etcdUrl, port) {
  // The server writes apiserver.crt and apiserver.key. The key also signs the tokens of service accounts.
  const key = path.join(folder, "apiserver.key");
  return start(kubeApiserver, folder, "kube-apiserver", {
    "etcd-servers": etcdUrl,
    "bind-address": "127.0.0.1",
    "secure-port": String(port),
    "cert-dir": folder,
    "token-auth-file": path.join(folder, "tokens.csv"),
    "authorization-mode": "RBAC",
    "service-cluster-ip-range": "10.0.0.0/24",
    "service-account-issuer": "https://kubernetes.default.svc",
    "service-account-key-file": key,
    "service-account-signing-key-file": key,
    // Nothing here creates service accounts, so Pods could not be created with it.
    "disable-admission-plugins": "ServiceAccount",
    "allow-privileged": "true",
    "proxy-client-cert-file": path.join(folder, "proxy.crt"),
    "proxy-client-key-file": path.join(folder, "proxy.key"),
    "requestheader-client-ca-file": path.join(folder, "proxy-ca.crt"),
    "requestheader-allowed-names": "front-proxy-client",
    "requestheader-username-headers": "X-Remote-User",
    "requestheader-group-headers": "X-Remote-Group",
    "requestheader-extra-headers-prefix": "X-Remote-Extra-",
  });
}

/**
 * @param {string} command
 * @param {string} folder
 * @param {string} name
 * @param {Record<string, string>} flags
 */
function start(command, folder, name, flags) {
  const log = openSync(path.join(folder, `${name}.log`), "a");
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const child = spawn(command, args, { stdio: ["ignore", log, log] });
  child.on("error", () => {});
  closeSync(log);
  return child;
}

/** @param {import("node:child_process").ChildProcess} child */
async function end(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await gone;
  clearTimeout(timer);
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/**
 * @param {{ url: string, certificate: string, token: string, timeoutMs: number, folder: string,
 *   children: import("node:child_process").ChildProcess[] }} options
 */
async function waitUntilReady({ url, certificate, token, timeoutMs, children, folder }) {
  const deadline = Date.now() + timeoutMs;
  let last = "no answer yet";
  while (Date.now() < deadline) {
    const dead = children.find((child) => child.pid === undefined || child.exitCode !== null);
    if (dead) throw new Error(`${dead.spawnfile} ended: ${await lastLines(folder)}`);
    try {
      const ca = await readFile(certificate);
      last = await get(`${url}/readyz`, ca, token);
      if (last === "200 ok") return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`not ready after ${timeoutMs} ms (${last}): ${await lastLines(folder)}`);
}

/** @param {string} folder */
async function lastLines(folder) {
  const logs = await Promise.all(
    ["etcd", "kube-apiserver"].map((name) =>
      readFile(path.join(folder, `${name}.log`), "utf8").catch(() => ""),
    ),
  );
  return logs.map((log) => log.trimEnd().split("\n").slice(-3).join("\n")).join("\n");
}

/**
 * @param {string} url
 * @param {Buffer} ca
 * @param {string} token
 * @returns {Promise<string>} status and body
 */
function get(url, ca, token) {
  return new Promise((resolve, reject) => {
    const options = { ca, headers: { authorization: `Bearer ${token}` }, timeout: 5_000 };
    const call = request(url, options, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve(`${response.statusCode} ${body}`));
    });
    call.on("timeout", () => call.destroy(new Error("timed out")));
    call.on("error", reject);
    call.end();
  });
}

/** @param {{ url: string, certificate: string, token: string }} options */
function kubeconfigFor({ url, certificate, token }) {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url, "certificate-authority": certificate } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
    "current-context": "test",
  });
}
