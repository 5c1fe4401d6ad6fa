import { readFileSync } from "node:fs";
import { HttpClient } from "@virtkit/kube";
import { type Cluster, testImages } from "@virtkit/lab/cluster";
import { install, uninstall } from "@virtkit/operator";

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
  const client = connect(cluster);
  const said: string[] = [];
  const chosen = {
    ...installation,
    configuration: { ...installation.configuration, ...configuration },
  };
  await tellingWhy(cluster, async () => {
    for await (const line of install({ client, ...chosen, patience: 120_000 })) said.push(line);
  });
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
