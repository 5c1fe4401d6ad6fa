import { readFileSync } from "node:fs";
import { clusterConfig } from "@virtkit/api/config";
import { crds } from "@virtkit/api/crd";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import { decodeGrant, encodeGrant, freeGrant, grantAnnotation } from "@virtkit/api/grant";
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
import { afterAll, beforeAll, expect, test } from "vitest";
import { askLibvirt } from "../duties/ask-libvirt.ts";
import { capabilityDirectory } from "../duties/capability-files.ts";
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

/** Launchers of VMIs of this name are started again, as those of a kubelet that does not know that it must not. */
const restarted = "twice";

/** A client whose Pods for {@link restarted} have their containers started again. */
function restartingClient(): HttpClient {
  const client = connect();
  const create = client.create.bind(client);
  client.create = async (resource, object, ...rest) => {
    const isRestarted =
      resource.plural === "pods" && object.metadata.name?.startsWith(`virt-launcher-${restarted}`);
    const spec = { ...(object as { spec?: object }).spec, restartPolicy: "Always" };
    return await create(resource, isRestarted ? { ...object, spec } : object, ...rest);
  };
  return client;
}

/** The reconcilers, as a process of this host. */
function runControllers(signal: AbortSignal): Promise<void> {
  const profile = virtkitLauncherProfile({ image: testImages.launcher });
  const controllers = createControllers({
    client: restartingClient(),
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
            // What libvirt says of the node, which tells the CPU model of a host-model guest.
            initContainers: [
              {
                ...{ name: "virt-launcher", image: testImages.launcher, imagePullPolicy: "Never" },
                command: ["/bin/sh", "-c", askLibvirt],
                securityContext: { privileged: true },
                volumeMounts: [{ name: "capabilities", mountPath: capabilityDirectory }],
              },
            ],
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
                  { name: "capabilities", mountPath: capabilityDirectory, readOnly: true },
                  { name: "machine-id", mountPath: "/host/machine-id", readOnly: true },
                  { name: "boot-id", mountPath: "/host/boot-id", readOnly: true },
                  { name: "cgroups", mountPath: "/host/cgroup" },
                ],
              },
            ],
            volumes: [
              host("state", `/var/lib/kubelet/virtkit-${namespace}`, "DirectoryOrCreate"),
              host("plugins", "/var/lib/kubelet/device-plugins", "Directory"),
              host("machine-id", "/etc/machine-id", "File"),
              host("boot-id", "/proc/sys/kernel/random/boot_id", "File"),
              host("cgroups", "/sys/fs/cgroup", "Directory"),
              { name: "capabilities", emptyDir: {} },
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

/** A claim that is bound to a folder of the node, or to a device of it. */
async function makeClaim(
  namespace: string,
  name: string,
  path: string,
  mode: string,
): Promise<void> {
  const size = { storage: "16Mi" };
  const volume = `${namespace}-${name}`;
  const shared = { volumeMode: mode, accessModes: ["ReadWriteOnce"], storageClassName: "" };
  await cluster.apply(
    {
      ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: volume } },
      spec: {
        ...{ ...shared, capacity: size, local: { path }, persistentVolumeReclaimPolicy: "Retain" },
        claimRef: { namespace, name },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: "kubernetes.io/hostname", operator: "In", values: [node] },
                ],
              },
            ],
          },
        },
      },
    },
    {
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, namespace } },
      spec: { ...shared, resources: { requests: size }, volumeName: volume },
    },
  );
}

/** Has the VMI have these volumes beside its own, as a user's change of it would. */
async function plug(namespace: string, volumes: readonly string[]): Promise<void> {
  const { spec } = vmiOf("demo", namespace);
  const { devices } = spec.domain;
  const disk = { bus: "scsi" };
  const patch = {
    spec: {
      domain: {
        devices: { disks: [...(devices?.disks ?? []), ...volumes.map((name) => ({ name, disk }))] },
      },
      volumes: [
        ...(spec.volumes ?? []),
        ...volumes.map((name) => ({
          name,
          persistentVolumeClaim: { claimName: name, hotpluggable: true },
        })),
      ],
    },
  };
  const args = ["patch", "-n", namespace, "vmi/demo", "--type=merge", "-p", JSON.stringify(patch)];
  await cluster.kubectl(args);
}

async function hotplugged(namespace: string): Promise<Record<string, string | undefined>> {
  const { volumeStatus = [] } = await vmiStatus(namespace, "demo");
  const plugged = volumeStatus.filter(({ hotplugVolume }) => hotplugVolume);
  return Object.fromEntries(plugged.map(({ name, phase }) => [name, phase]));
}

/** Pids of the node whose cgroup is of a Pod, and whose program has that name. */
async function processesOf(podUid: string, program: string): Promise<readonly string[]> {
  const script = `for d in /proc/[0-9]*; do grep -q "pod${podUid}" $d/cgroup && grep -q "^${program}" $d/comm && echo \${d#/proc/}; done 2>/dev/null; true`;
  const found = await cluster.runOnNode(node, "bash", ["-c", script]);
  return found.split("\n").filter(Boolean);
}

interface SeenPod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly restartCount: number;
    }[];
  };
}

async function launcherPod(namespace: string, vmi: string): Promise<SeenPod | undefined> {
  const label = `${names.labels.app}=virt-launcher`;
  const list = (await kubectlJson("get", "-n", namespace, "pod", "-l", label)) as {
    readonly items: readonly SeenPod[];
  };
  return list.items.find(({ metadata }) => metadata.name.startsWith(`virt-launcher-${vmi}-`));
}

async function offersDevices(): Promise<boolean> {
  const { status } = (await kubectlJson("get", `node/${node}`)) as {
    readonly status: { readonly allocatable: Readonly<Record<string, string>> };
  };
  // A quantity: a thousand is written as 1k.
  return ![undefined, "0"].includes(status.allocatable[names.devices.tun]);
}

let namespace: ClusterNamespace;
let stop: AbortController;
let controllers: Promise<void>;

beforeAll(async () => {
  namespace = await createNamespace(cluster);
  const labels = [`${names.nodeLabels.machineType}q35=true`];
  await cluster.kubectl(["label", "node", node, "--overwrite", ...labels]);
  const definitions = JSON.stringify({ apiVersion: "v1", kind: "List", items: crds() });
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: definitions });
  await cluster.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"], {
    timeout: 90_000,
  });
  await installAgent(namespace);
  stop = new AbortController();
  controllers = runControllers(stop.signal);
}, 120_000);

afterAll(async () => {
  stop?.abort();
  await controllers;
  await cluster.kubectl(["delete", "clusterrole,clusterrolebinding", "kubevirt-handler"]);
  await cluster.runOnNode(node, "rm", ["-rf", `/var/lib/kubelet/virtkit-${namespace.name}`]);
  await namespace[Symbol.asyncDispose]();
}, 60_000);

let boot = "";
let address: string | undefined;

test("a VMI created with kubectl boots and reports its address", async () => {
  const { name } = namespace;
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(vmiOf("demo", name)) });
  await expect.poll(() => vmiStatus(name, "demo"), patience).toMatchObject({ phase: "Running" });
  const { conditions = [] } = await vmiStatus(name, "demo");
  // Its CPU is host-model: the agent knows which one that is on this node.
  const movable = conditions.find(({ type }) => type === "LiveMigratable");
  expect(movable).toMatchObject({ status: "True" });
  // An agent that speaks before its guest has an address hides the Pod's for a while.
  const told = async () => {
    const { interfaces = [] } = await vmiStatus(name, "demo");
    address = interfaces[0]?.ipAddress;
    return address ?? "";
  };
  await expect.poll(told, patience).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  await expect.poll(() => bootId(address), patience).toMatch(/^boot_id=/);
  boot = await bootId(address);
  const agents = ["get", "pods", "-n", name, "-l", "app=virt-handler"];
  const host = await cluster.kubectl([...agents, "-o", "jsonpath={.items[0].status.podIP}"]);
  const metrics = await (await fetch(`http://${host}:8080/metrics`)).text();
  expect(metrics).toContain("kubevirt_virt_handler_ready_status{} 1\n");
  expect(metrics).toMatch(/^kubevirt_vmi_cpu_usage_seconds_total\{.*name="demo".*\} \d/m);
}, 170_000);

test("claims are plugged into the running guest and unplugged again, and leave nothing behind", async () => {
  const { name } = namespace;
  const folder = `/var/lib/kubelet/virtkit-${name}-data`;
  await cluster.runOnNode(node, "mkdir", ["-p", folder]);
  await cluster.runOnNode(node, "truncate", ["-s", "16M", `${folder}/disk.img`]);
  const device = (
    await cluster.runOnNode(node, "losetup", ["-f", "--show", `${folder}/disk.img`])
  ).trim();
  try {
    await makeClaim(name, "files", folder, "Filesystem");
    await makeClaim(name, "device", device, "Block");
    await plug(name, ["files"]);
    await expect.poll(() => hotplugged(name), patience).toEqual({ files: "Ready" });
    // The second one has another Pod made, which takes over from the first while the guest goes on using its disk.
    await plug(name, ["files", "device"]);
    await expect
      .poll(() => hotplugged(name), patience)
      .toEqual({ files: "Ready", device: "Ready" });
    const { volumeStatus = [] } = await vmiStatus(name, "demo");
    const targets = volumeStatus.map(({ name: volume, target }) => `${volume} ${target}`).sort();
    expect(targets).toEqual(["device sdb", "files sda", "root vda"]);
    const pod = await launcherPod(name, "demo");
    const [qemu] = await processesOf(pod?.metadata.uid ?? "", "qemu");
    const inPod = (...args: string[]) =>
      cluster.runOnNode(node, "nsenter", ["-t", qemu ?? "", "-m", "--", ...args]);
    expect((await inPod("ls", names.directories.hotplugDisks)).split("\n").sort()).toEqual(
      expect.arrayContaining(["device", "files.img"]),
    );

    await plug(name, []);
    await expect.poll(() => hotplugged(name), patience).toEqual({});
    expect((await inPod("ls", names.directories.hotplugDisks)).trim()).not.toMatch(/files|device/);
    await expect
      .poll(() => cluster.kubectl(["get", "-n", name, "pod", "-o", "name"]), patience)
      .not.toMatch(/hp-volume/);
    expect(await vmiStatus(name, "demo")).toMatchObject({ phase: "Running" });
  } finally {
    await cluster.runOnNode(node, "losetup", ["-d", device]);
    await cluster.kubectl(["delete", "-n", name, "pvc/files", "pvc/device", "--wait=false"]);
    await cluster.kubectl(["delete", `pv/${name}-files`, `pv/${name}-device`, "--wait=false"]);
    await cluster.runOnNode(node, "rm", ["-rf", folder]);
  }
}, 170_000);

test("a guest survives restarts of its agent, kubelet and containerd", async () => {
  const { name } = namespace;
  const agents = ["-n", name, "-l", "app=virt-handler"];
  await cluster.kubectl(["delete", "pod", ...agents, "--grace-period=0", "--force"]);
  const wait = ["rollout", "status", "-n", name, "daemonset/virt-handler", "--timeout=90s"];
  await cluster.kubectl(wait, { timeout: 100_000 });
  // A kubelet that starts while nobody offers a device ends the Pods that have it.
  await expect.poll(() => offersDevices(), patience).toBe(true);
  for (const program of ["kubelet", "containerd"]) {
    await cluster.stopProgram(node, program);
    await cluster.startProgram(node, program);
  }
  await cluster.kubectl(wait, { timeout: 100_000 });
  // The agent that came back sees its guest: it tells what its agent says, and ends it in order below.
  await expect
    .poll(async () => (await vmiStatus(name, "demo")).conditions?.map(({ type }) => type), patience)
    .toContain("AgentConnected");
  await expect.poll(() => bootId(address), patience).toBe(boot);
  expect(await vmiStatus(name, "demo")).toMatchObject({ phase: "Running" });
}, 170_000);

test("a deleted VMI is gone without a trace", async () => {
  const { name } = namespace;
  await cluster.kubectl(["delete", "-n", name, "vmi/demo", "--wait=false"]);
  await expect
    .poll(() => cluster.kubectl(["get", "-n", name, "vmi,pod", "-o", "name"]), patience)
    .not.toMatch(/demo/);
  const state = `/var/lib/kubelet/virtkit-${name}`;
  const left = await cluster.runOnNode(node, "find", [state, "-mindepth", "2"]);
  expect(left.trim()).toBe("");
}, 120_000);

test("a launcher that a kubelet restarts in a new sandbox under the same UID gets no second copy of the guest", async () => {
  const { name } = namespace;
  const vmi = vmiOf(restarted, name);
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(vmi) });
  await expect.poll(() => vmiStatus(name, restarted), patience).toMatchObject({ phase: "Running" });
  // Nobody but kubelet and agent does anything from here on.
  stop.abort();
  await controllers;
  const pod = await launcherPod(name, restarted);
  const uid = pod?.metadata.uid ?? "";
  expect(await processesOf(uid, "qemu")).toHaveLength(1);
  const [pause] = await processesOf(uid, "pause");
  await cluster.runOnNode(node, "kill", ["-KILL", pause ?? ""]);
  let most = 0;
  const again = async (): Promise<unknown> => {
    const seen = await launcherPod(name, restarted);
    const [container] = seen?.status.containerStatuses ?? [];
    const isOther = (container?.restartCount ?? 0) > 0;
    if (isOther) most = Math.max(most, (await processesOf(uid, "qemu")).length);
    const { phase = "" } = await vmiStatus(name, restarted);
    // How the launcher was told to end is the kubelet's; that its guest has ended is proven either way.
    const hasEnded = ["Failed", "Succeeded"].includes(phase);
    return { uid: seen?.metadata.uid, isOther, hasEnded };
  };
  await expect.poll(again, patience).toEqual({ uid, isOther: true, hasEnded: true });
  expect(most).toBe(0);
  const { metadata } = (await kubectlJson(
    "get",
    "-n",
    name,
    `vmi/${restarted}`,
  )) as VirtualMachineInstance;
  const annotation = metadata?.annotations?.[names.own(grantAnnotation)];
  expect(decodeGrant(annotation, metadata?.uid ?? "")).toMatchObject({ state: "Ended", epoch: 1 });
}, 170_000);
