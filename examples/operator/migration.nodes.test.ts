import { readFileSync } from "node:fs";
import { HttpClient } from "@virtkit/kube";
import {
  attachCluster,
  type ClusterNamespace,
  createNamespace,
  testImages,
} from "@virtkit/lab/cluster";
import { install, uninstall } from "@virtkit/operator";
import { afterAll, beforeAll, expect, onTestFailed, test } from "vitest";
import { MovingVm } from "./testing/moving-vm.ts";

const cluster = attachCluster();
const installation = {
  image: testImages.launcher,
  imagePullPolicy: "IfNotPresent",
  stateDirectory: "/var/lib/kubelet/virtkit-migration",
  configuration: {
    developerConfiguration: { useEmulation: true },
    // What emulated CPUs are, and no node with KVM would offer.
    obsoleteCPUModels: { "486": true },
    // The directory that both nodes share is of this host's own file system: libvirt cannot know that it is shared.
    migrations: { unsafeMigrationOverride: true },
  },
} as const;

function connect(): HttpClient {
  const { clusters, users } = JSON.parse(readFileSync(cluster.kubeconfig, "utf8"));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const tls = { ca: Buffer.from(data, "base64") };
  return new HttpClient({ server, credentials: async () => ({ headers, tls }) });
}

const client = connect();
let namespace: ClusterNamespace;
let vm: MovingVm;

beforeAll(async () => {
  for await (const line of install({ client, ...installation, patience: 90_000 })) void line;
  namespace = await createNamespace(cluster);
  vm = new MovingVm(cluster, { name: "demo", namespace: namespace.name });
  await vm.create();
  try {
    await vm.running();
    await vm.counting();
    await vm.nameImages();
  } catch (error) {
    process.stderr.write(`${await whatHappened()}\n`);
    throw error;
  }
}, 240_000);

afterAll(async () => {
  await vm?.remove();
  await namespace?.[Symbol.asyncDispose]();
  for await (const line of uninstall({ client, ...installation, force: true })) void line;
  for (const node of cluster.nodes) {
    await cluster.runOnNode(node, "rm", ["-rf", installation.stateDirectory]);
  }
  client.close();
}, 240_000);

/** For people who look for the reason of a failure. */
async function whatHappened(): Promise<string> {
  const show = async (...args: readonly string[]): Promise<string> =>
    await cluster.kubectl(args).catch((error: unknown) => String(error));
  const logs = ["virt-controller", "virt-handler"].map((name) =>
    show("logs", "-n", "kubevirt", "-l", `kubevirt.io=${name}`, "--tail=40", "--prefix"),
  );
  return [
    await show("get", "pods", "-A", "-o", "wide"),
    ...(await Promise.all(logs)),
    await show(
      "logs",
      "-n",
      namespace.name,
      "-l",
      "kubevirt.io=virt-launcher",
      "--tail=40",
      "--prefix",
      "-c",
      "compute",
    ),
    await show("get", "vmi,vmim", "-A", "-o", "yaml"),
    await show("get", "nodes", "--show-labels"),
    await show("get", "events", "-n", namespace.name),
  ].join("\n");
}

test("a guest moves to the other node and back, and counts on", async () => {
  onTestFailed(async () => void process.stderr.write(`${await whatHappened()}\n`));
  let before = await vm.counting();
  for (const name of ["there", "back"]) {
    const from = await vm.nodeName();
    await vm.migrate(name);
    expect(await vm.migrated(name)).toBe("Succeeded");
    expect(await vm.nodeName()).not.toBe(from);
    before = await vm.counting(before);
    await expect.poll(() => vm.copies()).toEqual([await vm.nodeName()]);
  }
}, 240_000);
