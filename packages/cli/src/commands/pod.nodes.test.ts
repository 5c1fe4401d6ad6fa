import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { names } from "@virtkit/api/names";
import {
  attachCluster,
  type ClusterNamespace,
  type ClusterPod,
  createNamespace,
  hasCondition,
  testImages,
} from "@virtkit/lab/cluster";
import { slotDevices, startDevicePlugin } from "@virtkit/node-agent/device-plugins";
import { expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const cluster = attachCluster();
const node = "node-1";
const configuration = { developerConfiguration: { useEmulation: true } };
const { devices, nodeLabels, own } = names();
const finalizer = own("proof-of-end");
/** What a node agent writes about its node. */
const labels = [`${nodeLabels.schedulable}=true`, `${nodeLabels.machineType}q35=true`];

interface Vmi {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
}

async function virtkit(args: readonly string[], stdin = ""): Promise<string> {
  const { code, out, err } = await runVirtkit(args, stdin);
  expect(err).toBe("");
  expect(code).toBe(0);
  return out;
}

/** The demo's VMI in the API server, with an image that the nodes have. */
async function createVmi(namespace: string): Promise<Vmi> {
  await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: await virtkit(["crds"]) });
  const crds = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"];
  await cluster.kubectl(crds, { timeout: 90_000 });
  const demo = fileURLToPath(new URL("../../../../examples/vms/demo.yaml", import.meta.url));
  const text = readFileSync(demo, "utf8")
    .replace("namespace: default", `namespace: ${namespace}`)
    .replace(/image: .*/, `image: ${testImages.disk}\n        imagePullPolicy: IfNotPresent`);
  await cluster.kubectl(["apply", "-f", "-"], { input: text });
  return JSON.parse(await cluster.kubectl(["get", "-n", namespace, "vmi/demo", "-o", "json"]));
}

/** What `virtkit pod` prints, created unchanged. */
async function createLauncherPod(vmi: Vmi): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-pod-"));
  try {
    const [file, config] = [join(directory, "vmi.json"), join(directory, "config.json")];
    writeFileSync(file, JSON.stringify(vmi));
    writeFileSync(config, JSON.stringify(configuration));
    const args = [
      "pod",
      "-f",
      file,
      "--config",
      config,
      "--image",
      testImages.launcher,
      "-o",
      "json",
    ];
    const pod = await virtkit(args);
    const created = await cluster.kubectl(["create", "-f", "-", "-o", "name"], { input: pod });
    return created.trim().replace("pod/", "");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A Pod that sees all of its node, as a node agent does. */
async function createAgentPod(namespace: ClusterNamespace): Promise<void> {
  await namespace.createPod("agent", {
    ...{ nodeName: node, hostPID: true, hostNetwork: true, terminationGracePeriodSeconds: 1 },
    containers: [
      {
        name: "agent",
        image: testImages.launcher,
        imagePullPolicy: "Never",
        command: ["sleep", "3600"],
        securityContext: { privileged: true },
        volumeMounts: [{ name: "state", mountPath: "/var/lib/virtkit" }],
      },
    ],
    volumes: [{ name: "state", emptyDir: {} }],
  });
  await namespace.untilReady("agent");
}

/** What an agent does for one Pod: finds its launcher, and runs or stops its guest. */
const agentScript = `
import { readdirSync, readFileSync } from "node:fs";
import { clusterConfig } from "@virtkit/api/config";
import { openSandbox, runGuest, stopGuest } from "@virtkit/node-agent";

const { verb, vmi, podUid, containerId, configuration } = JSON.parse(process.env.TASK);
const pid = readdirSync("/proc").find((name) => {
  try {
    const first = /^NSpid:.*\\t1$/m.test(readFileSync("/proc/" + name + "/status", "utf8"));
    return first && readFileSync("/proc/" + name + "/cgroup", "utf8").includes(containerId);
  } catch {
    return false;
  }
});
const config = clusterConfig(configuration);
const options = { stateDirectory: "/var/lib/virtkit" };
const sandbox = openSandbox({ podUid, pid: Number(pid) });
if (verb === "stop") await stopGuest(vmi, sandbox, options);
else await run();
process.exit(0);

async function run() {
  const guest = await runGuest(vmi, sandbox, {
    ...options,
    environment: { config, allowEmulation: true, hypervisorDeviceAvailable: false },
  });
  while ((await guest.client.status()).agent !== "connected") await new Promise((r) => setTimeout(r, 200));
  const { stdout } = await guest.client.exec({ command: "uname", args: ["-s"] });
  console.log(JSON.stringify({ state: (await guest.client.status()).state, stdout }));
}
`;

async function agent(
  namespace: ClusterNamespace,
  verb: "run" | "stop",
  vmi: Vmi,
  pod: ClusterPod,
): Promise<string> {
  const compute = pod.status.containerStatuses?.find(({ name }) => name === "compute");
  const containerId = compute?.containerID?.replace("containerd://", "");
  const podUid = pod.metadata.uid;
  const task = JSON.stringify({ verb, vmi, podUid, containerId, configuration });
  // A file: Node cannot start threads from a script on stdin.
  const command = ["env", `TASK=${task}`, "sh", "-c", "cat > agent.mjs && node agent.mjs"];
  const args = ["exec", "-i", "-n", namespace.name, "agent", "--", ...command];
  return await cluster.kubectl(args, { input: agentScript, timeout: 240_000 });
}

test("the Pod that virtkit pod prints runs unchanged, and an agent in a Pod boots its guest, asks its agent and reaches its port", async () => {
  await using namespace = await createNamespace(cluster);
  const directory = `/proc/${await cluster.nodePid(node)}/root/var/lib/kubelet/device-plugins`;
  const source = slotDevices({ name: "tun", path: "/dev/net/tun", slots: 10 });
  await using plugin = startDevicePlugin({ directory, resource: devices.tun, source });
  await plugin.whenReady();
  await cluster.kubectl(["label", "node", node, "--overwrite", ...labels]);
  const vmi = await createVmi(namespace.name);
  const name = await createLauncherPod(vmi);
  await createAgentPod(namespace);
  const pod = await namespace.untilPod(name, (each) => hasCondition(each, "ContainersReady"));
  expect(JSON.parse(await agent(namespace, "run", vmi, pod))).toEqual({
    state: "Running",
    stdout: "Linux\n",
  });
  await expect.poll(() => fetchText(`http://${pod.status.podIP}/`)).toMatch(/^boot_id=/);
  await agent(namespace, "stop", vmi, pod);
  const ended = await namespace.untilPod(name, ({ status }) => status.phase !== "Running");
  expect(ended.status.phase).toBe("Succeeded");
  // The Pod stays until somebody has seen that the guest has ended.
  await namespace.deletePod(name);
  expect(await namespace.pod(name)).toMatchObject({ metadata: { finalizers: [finalizer] } });
  const patch = ["patch", "-n", namespace.name, `pod/${name}`, "--type=merge"];
  await cluster.kubectl([...patch, "-p", '{"metadata":{"finalizers":null}}']);
  await namespace.untilGone(name);
});

async function fetchText(url: string): Promise<string> {
  return await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    (answer) => answer.text(),
    (error: unknown) => String(error),
  );
}
