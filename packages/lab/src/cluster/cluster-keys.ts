import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../run-program.ts";
import type { ClusterLayout } from "./cluster-layout.ts";

/** A certificate of the cluster's authority, with its key, as PEM. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
  /** The authority's own certificate: what clients trust, and what a webhook's `caBundle` has. */
  readonly ca: string;
}

/** Everyone who calls the API server with a token, and the group that defines their rights. */
function callers({ nodes }: ClusterLayout): { name: string; file: string; group: string }[] {
  return [
    { name: "admin", file: "admin", group: "system:masters" },
    { name: "system:kube-controller-manager", file: "controllers", group: "system:masters" },
    { name: "system:kube-scheduler", file: "scheduler", group: "" },
    { name: "system:kube-proxy", file: "proxy", group: "" },
    ...nodes.map(({ name }) => ({
      name: `system:node:${name}`,
      file: name,
      group: "system:nodes",
    })),
  ];
}

/** The directory of a cluster's keys. */
export function keysDirectory({ directory }: ClusterLayout): string {
  return join(directory, "keys");
}

/** The kubeconfig of a caller with a token: `admin`, or the name of a node. */
export function kubeconfigFile(layout: ClusterLayout, who: string): string {
  return join(keysDirectory(layout), `${who}.conf`);
}

/**
 * Creates the cluster's authority, and the credentials of its parts: certificates where the API
 * server is a server or calls one, tokens for everyone who calls it.
 */
export async function makeClusterKeys(layout: ClusterLayout): Promise<void> {
  const directory = keysDirectory(layout);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await Promise.all([makeKey(directory, "ca"), makeKey(directory, "service-accounts")]);
  const subject = ["-subj", "/CN=virtkit-lab", "-days", "30", "-out", "ca.crt"];
  await runProgram("openssl", ["req", "-x509", "-new", "-key", "ca.key", ...subject], {
    cwd: directory,
  });
  const names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"];
  const addresses = ["127.0.0.1", layout.hostAddress, layout.apiServiceAddress];
  await Promise.all([
    sign(directory, "apiserver", "/CN=kube-apiserver", { names, addresses }),
    sign(directory, "kubelet-client", "/O=system:masters/CN=kube-apiserver"),
    sign(directory, "front-proxy", "/CN=front-proxy-client"),
  ]);
  const authority = await readFile(join(directory, "ca.crt"));
  const tokens: string[] = [];
  for (const { name, file, group } of callers(layout)) {
    const token = randomBytes(16).toString("hex");
    tokens.push(`${token},${name},${name},"${group}"\n`);
    const text = kubeconfig(layout, authority, token);
    await writeFile(kubeconfigFile(layout, file), text, { mode: 0o600 });
  }
  await writeFile(join(directory, "tokens.csv"), tokens.join(""), { mode: 0o600 });
}

/** Makes a certificate for a server that this cluster calls: a webhook, or an aggregated API. */
export async function serverCertificate(
  layout: ClusterLayout,
  names: readonly string[],
): Promise<ServerCertificate> {
  const directory = keysDirectory(layout);
  const file = `server-${randomBytes(6).toString("hex")}`;
  await sign(directory, file, "/CN=extension", { names, addresses: [layout.hostAddress] });
  const [key, cert, ca] = await Promise.all(
    [`${file}.key`, `${file}.crt`, "ca.crt"].map((name) => readFile(join(directory, name), "utf8")),
  );
  return { key: key ?? "", cert: cert ?? "", ca: ca ?? "" };
}

interface Server {
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}

/** Signs a certificate for a server, or without one for a client. */
async function sign(
  directory: string,
  file: string,
  subject: string,
  server?: Server,
): Promise<void> {
  await makeKey(directory, file);
  const options = { cwd: directory };
  const request = ["-new", "-key", `${file}.key`, "-subj", subject, "-out", `${file}.csr`];
  await runProgram("openssl", ["req", ...request], options);
  const others = [
    ...(server?.names ?? []).map((name) => `DNS:${name}`),
    ...(server?.addresses ?? []).map((address) => `IP:${address}`),
  ];
  const extensions = server
    ? `subjectAltName=${others.join(",")}\nextendedKeyUsage=serverAuth\n`
    : "extendedKeyUsage=clientAuth\n";
  await writeFile(join(directory, `${file}.ext`), extensions);
  const serial = `0x${randomBytes(8).toString("hex")}`;
  await runProgram(
    "openssl",
    [
      ...["x509", "-req", "-in", `${file}.csr`, "-CA", "ca.crt", "-CAkey", "ca.key"],
      ...["-set_serial", serial, "-days", "30", "-extfile", `${file}.ext`, "-out", `${file}.crt`],
    ],
    options,
  );
}

async function makeKey(directory: string, file: string): Promise<void> {
  // Not `genpkey`: the API server does not read keys of its format for service accounts.
  const args = ["-name", "prime256v1", "-genkey", "-noout", "-out", `${file}.key`];
  await runProgram("openssl", ["ecparam", ...args], { cwd: directory });
}

function kubeconfig(layout: ClusterLayout, authority: Buffer, token: string): string {
  const server = `https://${layout.hostAddress}:${layout.apiPort}`;
  const data = authority.toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    // The certificate itself: a node has no path to it.
    clusters: [{ name: "lab", cluster: { server, "certificate-authority-data": data } }],
    users: [{ name: "me", user: { token } }],
    contexts: [{ name: "lab", context: { cluster: "lab", user: "me" } }],
    "current-context": "lab",
  });
}
