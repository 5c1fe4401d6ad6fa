import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { startApiServer } from "../../../tools/cluster/api-server.mjs";

/** Where the cluster tier's programs are, if they have been built. */
function programs() {
  const given = process.env["VIRTKIT_KUBERNETES"];
  if (given) return given;
  const cache = path.join(homedir(), ".cache", "virtkit");
  if (!existsSync(cache)) return undefined;
  return readdirSync(cache)
    .filter((name) => name.startsWith("kubernetes-"))
    .map((name) => path.join(cache, name))
    .find((folder) => existsSync(path.join(folder, "kube-apiserver")));
}

/** Whether a real API server can be started and, if not, why. */
export function hasApiServer() {
  const folder = programs();
  const there = folder !== undefined && existsSync(path.join(folder, "kube-apiserver"));
  return there || "kube-apiserver is not built here; build it with: npm run setup -- cluster";
}

/** Starts etcd and kube-apiserver. */
export async function startServer() {
  const folder = programs() ?? "";
  return await startApiServer({
    kubeApiserver: path.join(folder, "kube-apiserver"),
    etcd: path.join(folder, "etcd"),
  });
}
