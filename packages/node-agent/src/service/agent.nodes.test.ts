import { readFileSync } from "node:fs";
import { clusterConfig } from "@virtkit/api/config";
import { crds } from "@virtkit/api/crd";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import { encodeGrant, freeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { createControllers } from "@virtkit/controller/service";
import { HttpClient } from "@virtkit/kube";
import {
  attachCluster,
  type ClusterNamespace,
  createNamespace,
  testImages,
} from "@virtkit/lab/cluster";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import { nodeAgentRules } from "./node-agent-rules.ts";

const cluster = attachCluster();
const node = "node-1";
const names = namesOf();
const configuration = { developerConfiguration: { useEmulation: true } };
const config = clusterConfig(configuration);

function connect(): HttpClient {
  const { clusters, users } = JSON.parse(readFileSync(cluster.kubeconfig, "utf8"));
  const { server, "certificate-authority-data": data } = clusters[0].cluster;
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  const tls = { ca: Buffer.from(data, "base64") };
  return new HttpClient({ server, credentials: async () => ({ headers, tls }) });
}

/** The reconcilers, as a process of this host. */
function runControllers(signal: AbortSignal): Promise<void> {
  const profile = virtkitLauncherProfile({ image: testImages.launcher });
  const controllers = createControllers({
    client: connect(),
    config: () => ({ cluster: config, profile }),
  });
  return controllers.run({ signal });
}

/** The agent as it is installed: a DaemonSet with the launcher's image, which sees all of its node. */
async function installAgent({ name: namespace }: ClusterNamespace): Promise<void> {
  const labels = { app: "virt-handler" };
  const account = "kubevirt-handler";
  const host = (name: string, path: string, type?: string): object => ({
    name,
    hostPath: { path, ...(type ? { type } : {}) },
  });
  await cluster.apply(
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account, namespace } },
    {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
      metadata: { name: account },
      rules: nodeAgentRules(names),
    },
    {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
      metadata: { name: account },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: account },
      subjects: [{ kind: "ServiceAccount", name: account, namespace }],
    },
    {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kubevirt", namespace } },
      data: { configuration: JSON.stringify(configuration) },
    },
    {
      ...{ apiVersion: "apps/v1", kind: "DaemonSet" },
      metadata: { name: "virt-handler", namespace },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...{ serviceAccountName: account, hostPID: true, terminationGracePeriodSeconds: 5 },
            nodeSelector: { "kubernetes.io/hostname": node },
            tolerations: [{ operator: "Exists" }],
            containers: [
              {
                name: "virt-handler",
                image: testImages.launcher,
                imagePullPolicy: "Never",
                command: [
                  ...["/usr/lib/node_modules/@virtkit/node-agent/bin/virtkit-node-agent.js"],
                  ...["--configuration", "/etc/virtkit/configuration"],
                  ...["--machine-id-file", "/host/machine-id", "--boot-id-file", "/host/boot-id"],
                ],
                env: [
                  { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
                ],
                securityContext: { privileged: true },
                volumeMounts: [
                  { name: "state", mountPath: "/var/lib/virtkit" },
                  { name: "plugins", mountPath: "/var/lib/kubelet/device-plugins" },
                  { name: "configuration", mountPath: "/etc/virtkit" },
                  { name: "machine-id", mountPath: "/host/machine-id", readOnly: true },
                  { name: "boot-id", mountPath: "/host/boot-id", readOnly: true },
                ],
              },
            ],
            volumes: [
              host("state", `/var/lib/kubelet/virtkit-${namespace}`, "DirectoryOrCreate"),
              host("plugins", "/var/lib/kubelet/device-plugins", "Directory"),
              host("machine-id", "/etc/machine-id", "File"),
              host("boot-id", "/proc/sys/kernel/random/boot_id", "File"),
              { name: "configuration", configMap: { name: "kubevirt" } },
            ],
          },
        },
      },
    },
  );
  const wait = ["rollout", "status", "-n", namespace, "daemonset/virt-handler", "--timeout=90s"];
  await cluster.kubectl(wait, { timeout: 100_000 });
}

/** What the API server's webhook makes of a manifest. */
function vmiOf(name: string, namespace: string): VirtualMachineInstance {
  const vmi = {
    ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance" },
    metadata: {
      ...{ name, namespace, finalizers: [names.finalizers.vmi] },
      annotations: { [names.own(grantAnnotation)]: encodeGrant(freeGrant) },
    },
    spec: {
      terminationGracePeriodSeconds: 20,
      nodeSelector: { "kubernetes.io/hostname": node },
      domain: {
        memory: { guest: "128Mi" },
        devices: {
          disks: [{ name: "root", disk: { bus: "virtio" } }],
          interfaces: [{ name: "default", masquerade: {}, ports: [{ port: 80 }] }],
        },
      },
      networks: [{ name: "default", pod: {} }],
      volumes: [
        {
          name: "root",
          containerDisk: { image: testImages.disk, imagePullPolicy: "IfNotPresent" },
        },
      ],
    },
  } as VirtualMachineInstance;
  return defaultVirtualMachineInstance(vmi, config);
}

async function kubectlJson(...args: readonly string[]): Promise<unknown> {
  return JSON.parse(await cluster.kubectl([...args, "-o", "json"]));
}

interface SeenVmi {
  readonly status?: VirtualMachineInstance["status"];
}

async function vmiStatus(namespace: string, name: string): Promise<NonNullable<SeenVmi["status"]>> {
  const { status = {} } = (await kubectlJson("get", "-n", namespace, `vmi/${name}`)) as SeenVmi;
  return status;
}

/** What the guest serves: it is another one after each boot. */
async function bootId(address: string | undefined): Promise<string> {
  try {
    const answer = await fetch(`http://${address}/`, { signal: AbortSignal.timeout(5_000) });
    return (await answer.text()).trim();
  } catch (error) {
    return String(error);
  }
}

const patience = { timeout: 100_000, interval: 500 };

test("a VMI made with kubectl boots, tells its address, outlives agent, kubelet and containerd, and is gone without a trace", async () => {
  await using namespace = await createNamespace(cluster);
  const { name } = namespace;
  const stop = new AbortController();
  const labels = [`${names.nodeLabels.machineType}q35=true`];
  await cluster.kubectl(["label", "node", node, "--overwrite", ...labels]);
  const definitions = JSON.stringify({ apiVersion: "v1", kind: "List", items: crds() });
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: definitions });
  await cluster.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"], {
    timeout: 90_000,
  });
  await installAgent(namespace);
  const controllers = runControllers(stop.signal);
  try {
    await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(vmiOf("demo", name)) });
    await expect.poll(() => vmiStatus(name, "demo"), patience).toMatchObject({ phase: "Running" });
    const { interfaces = [] } = await vmiStatus(name, "demo");
    const address = interfaces[0]?.ipAddress;
    expect(address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    await expect.poll(() => bootId(address), patience).toMatch(/^boot_id=/);
    const boot = await bootId(address);

    const agents = ["-n", name, "-l", "app=virt-handler"];
    await cluster.kubectl(["delete", "pod", ...agents, "--grace-period=0", "--force"]);
    for (const program of ["kubelet", "containerd"]) {
      await cluster.stopProgram(node, program);
      await cluster.startProgram(node, program);
    }
    const wait = ["rollout", "status", "-n", name, "daemonset/virt-handler", "--timeout=90s"];
    await cluster.kubectl(wait, { timeout: 100_000 });
    // The agent that came back sees its guest: it tells what its agent says, and ends it in order below.
    await expect
      .poll(
        async () => (await vmiStatus(name, "demo")).conditions?.map(({ type }) => type),
        patience,
      )
      .toContain("AgentConnected");
    await expect.poll(() => bootId(address), patience).toBe(boot);
    expect(await vmiStatus(name, "demo")).toMatchObject({ phase: "Running" });

    await cluster.kubectl(["delete", "-n", name, "vmi/demo", "--wait=false"]);
    await expect
      .poll(() => cluster.kubectl(["get", "-n", name, "vmi,pod", "-o", "name"]), patience)
      .not.toMatch(/demo/);
    const state = `/var/lib/kubelet/virtkit-${name}`;
    const left = await cluster.runOnNode(node, "find", [state, "-mindepth", "2"]);
    expect(left.trim()).toBe("");
    await cluster.runOnNode(node, "rm", ["-rf", state]);
  } finally {
    stop.abort();
    await controllers;
    await cluster.kubectl(["delete", "clusterrole,clusterrolebinding", "kubevirt-handler"]);
  }
}, 170_000);
