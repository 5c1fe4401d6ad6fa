import { readFileSync } from "node:fs";
import { clusterConfig } from "@virtkit/api/config";
import { compileLate, createControllers } from "@virtkit/controller/service";
import { HttpClient } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";

/** The controllers as a program, which tests kill and measure: `controller-process.mjs KUBECONFIG`. */
compileLate();
const [kubeconfig = ""] = process.argv.slice(2);
const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
const ca = readFileSync(clusters[0].cluster["certificate-authority"]);
const headers = { authorization: `Bearer ${users[0].user.token}` };
const server = clusters[0].cluster.server;
const client = new HttpClient({ server, credentials: async () => ({ headers, tls: { ca } }) });
const config = {
  cluster: clusterConfig({ developerConfiguration: { useEmulation: true } }),
  profile: virtkitLauncherProfile({ image: "launcher:1" }),
};
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
await createControllers({ client, config: () => config }).run({ signal: stop.signal });
client.close();
