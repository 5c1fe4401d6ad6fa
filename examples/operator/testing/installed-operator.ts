import { existsSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "@virtkit/api/clock";
import { HttpClient } from "@virtkit/kube";
import { type Cluster, testImages } from "@virtkit/lab/cluster";
import { install, uninstall } from "@virtkit/operator";
import { isWhole } from "./node-components.ts";
import { nodeTraces } from "./node-traces.ts";

/** How long a test waits for something in the cluster. */
export const patience = { timeout: 100_000, interval: 300 };

/** What the tests of a file install. */
export const installation = {
  image: testImages.launcher,
  imagePullPolicy: "IfNotPresent",
  // Another directory than that of the other agent tests: a node has one agent.
  stateDirectory: "/var/lib/kubelet/virtkit-operator",
  configuration: { developerConfiguration: { useEmulation: true } },
} as const;

/** The platform in the cluster of the tests. Disposing of it removes the platform and its VMs. */
export interface InstalledOperator extends AsyncDisposable {
  readonly client: HttpClient;
  /** The output of the installation. */
  readonly said: readonly string[];
}

/** Installs the platform, with a test's changes to its configuration. If that fails, it says what happened. */
export async function installOperator(
  cluster: Cluster,
  configuration: object = {},
): Promise<InstalledOperator> {
  const chosen = {
    ...installation,
    configuration: { ...installation.configuration, ...configuration },
  };
  const said: string[] = [];
  const operator = installed(cluster, chosen, said);
  await tellingWhy(cluster, async () => {
    const wanted = { client: operator.client, ...chosen, patience: 120_000 };
    for await (const line of install(wanted)) said.push(line);
  });
  return operator;
}

function installed(
  cluster: Cluster,
  chosen: typeof installation,
  said: string[],
): InstalledOperator {
  const client = connect(cluster);
  return {
    client,
    said,
    async [Symbol.asyncDispose]() {
      for await (const line of uninstall({ client, ...chosen, force: true })) said.push(line);
      for (const node of cluster.nodes) {
        await cluster.runOnNode(node, "rm", ["-rf", installation.stateDirectory]);
      }
      client.close();
    },
  };
}

/** The platform that several files use, one after the other. */
export interface SharedOperator extends InstalledOperator {
  /** What was on the nodes before the installation. */
  readonly clean: readonly string[];
  /** Lets go of it, and leaves it to the next file. */
  close(): void;
}

/**
 * The platform that an earlier file has left; without one, it is installed. To install and remove it in each file takes a
 * quarter of a minute. The files in `tools/nodes/operator-files.mjs` share it: they run last, and the last of them disposes of
 * it. A file that runs alone leaves that to the end of the cluster.
 */
export async function sharedOperator(cluster: Cluster): Promise<SharedOperator> {
  const record = join(cluster.layout.directory, "shared-operator.json");
  const known = existsSync(record) ? JSON.parse(readFileSync(record, "utf8")) : undefined;
  const clean: readonly string[] = known ?? (await nodeTraces(cluster));
  const operator = known ? installed(cluster, installation, []) : await installOperator(cluster);
  await writeFile(record, JSON.stringify(clean));
  // An earlier file may have broken it, and left before it was repaired.
  await tellingWhy(cluster, async () => {
    if (await until(() => isWhole(cluster), patience)) return;
    throw new Error("the platform that an earlier file has left is not ready");
  });
  return {
    ...operator,
    clean,
    close: () => operator.client.close(),
    async [Symbol.asyncDispose]() {
      await rm(record, { force: true });
      await operator[Symbol.asyncDispose]();
    },
  };
}

/** Changes the configuration of the installed platform, which follows it. Null removes a field. */
export async function configure(cluster: Cluster, configuration: object): Promise<void> {
  const patch = JSON.stringify({ spec: { configuration } });
  await cluster.kubectl([
    ...["patch", "kubevirt", "kubevirt", "-n", "kubevirt", "--type=merge", "-p", patch],
  ]);
}

/** A client for the cluster's administrator. */
export function connect(cluster: Cluster): HttpClient {
  const { clusters, users } = JSON.parse(readFileSync(cluster.kubeconfig, "utf8"));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const tls = { ca: Buffer.from(data, "base64") };
  return new HttpClient({ server, credentials: async () => ({ headers, tls }) });
}

/** Runs an action. If it fails, the state of the cluster and the logs of its components go to stderr. */
export async function tellingWhy<T>(cluster: Cluster, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    process.stderr.write(`${await whatHappened(cluster)}\n`);
    throw error;
  }
}

async function whatHappened(cluster: Cluster): Promise<string> {
  const show = async (...args: readonly string[]): Promise<string> =>
    await cluster.kubectl(args).catch((error: unknown) => String(error));
  const logs = ["virt-api", "virt-controller", "virt-handler"].map((name) =>
    show(
      ...["logs", "-n", "kubevirt", "-l", `kubevirt.io=${name}`, "--tail=20"],
      ...["--prefix", "--all-containers"],
    ),
  );
  return [
    await show("get", "pods", "-A", "-o", "wide"),
    ...(await Promise.all(logs)),
    await show("get", "vm,vmi", "-A", "-o", "yaml"),
    await show("get", "events", "-A", "--sort-by=.lastTimestamp"),
  ].join("\n");
}
