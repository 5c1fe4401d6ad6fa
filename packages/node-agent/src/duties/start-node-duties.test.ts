import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ManualClock } from "@virtkit/api/clock";
import { clusterConfig } from "@virtkit/api/config";
import type { KubeObject, Patch } from "@virtkit/kube";
import { expect, onTestFinished, test } from "vitest";
import { NodeFiles } from "./node-files.ts";
import { type NodeDutiesOptions, startNodeDuties } from "./start-node-duties.ts";

const schedulable = "kubevirt.io/schedulable";

type Labels = Record<string, string | null>;

/** An API server with one node, which notes what is written. */
function fakeClient(): {
  client: NodeDutiesOptions["client"];
  node: { labels: Labels; annotations: Labels };
  writes: unknown[];
  events: unknown[];
  down: boolean;
} {
  const state = {
    node: { labels: { mine: "x" } as Labels, annotations: {} as Labels },
    writes: [] as unknown[],
    events: [] as unknown[],
    down: false,
    client: {
      get: async () => ({ metadata: { name: "n1", ...state.node } }) as unknown as KubeObject,
      patch: async (_: unknown, __: unknown, patch: Patch) => {
        if (state.down) throw new Error("the API server is away");
        const { metadata } = (patch as unknown as { body: { metadata: typeof state.node } }).body;
        state.writes.push(metadata);
        state.node.labels = { ...state.node.labels, ...metadata.labels };
        state.node.annotations = { ...state.node.annotations, ...metadata.annotations };
        return {} as KubeObject;
      },
      create: async (_: unknown, event: unknown) => {
        state.events.push(event);
        return event as KubeObject;
      },
    } as unknown as NodeDutiesOptions["client"],
  };
  return state;
}

function nodeFiles(files: Record<string, string>): NodeFiles {
  const root = mkdtempSync("/tmp/node-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return new NodeFiles(root);
}

const capabilities = {
  ...{ usableModels: ["Skylake"], knownModels: [], features: [], machines: ["q35"], emulated: [] },
  deprecatedMachines: [],
  ...{ sev: false, sevEs: false, sevSnp: false, tdx: false, secureExecution: false },
};

function options(client: NodeDutiesOptions["client"], more: Partial<NodeDutiesOptions> = {}) {
  const config = clusterConfig({ developerConfiguration: { featureGates: ["CPUManager"] } });
  return {
    ...{ client, nodeName: "n1", architecture: "amd64", config: () => config },
    devicesReady: () => true,
    capabilities: () => capabilities,
    files: nodeFiles({
      "proc/sys/kernel/random/boot_id": "boot-1\n",
      "var/lib/kubelet/cpu_manager_state": '{"policyName":"static"}',
      "proc/sys/kernel/sched_rt_runtime_us": "-1\n",
    }),
    random: { number: () => 0, uuid: () => "0" } as NonNullable<NodeDutiesOptions["random"]>,
    wall: () => new Date("2030-01-01T00:00:00.5Z"),
    ...more,
  };
}

test("a node is not schedulable at the start, then schedulable while its devices are ready, and not at the end", async () => {
  const server = fakeClient();
  const clock = new ManualClock();
  let ready = false;
  const duties = startNodeDuties(options(server.client, { clock, devicesReady: () => ready }));
  await clock.pass(0);
  expect(server.node.labels[schedulable]).toBe("false");
  expect(server.node.annotations).toMatchObject({
    "kubevirt.io/heartbeat": "2030-01-01T00:00:00Z",
    "virtkit.io/boot-id": "boot-1",
  });
  ready = true;
  await clock.pass(1_000);
  expect(server.node.labels).toMatchObject({
    mine: "x",
    [schedulable]: "true",
    "kubevirt.io/cpumanager": "true",
    cpumanager: "true",
    "kubevirt.io/realtime": "true",
    "cpu-model.node.kubevirt.io/Skylake": "true",
    "machine-type.node.kubevirt.io/q35": "true",
    "kubevirt.io/ksm-enabled": "false",
  });
  // A plug-in that the kubelet has forgotten is told at once, and not only with the next heartbeat.
  ready = false;
  await duties.beat();
  expect(server.node.labels[schedulable]).toBe("false");
  ready = true;
  await duties.beat();
  expect(server.node.labels[schedulable]).toBe("true");
  await duties[Symbol.asyncDispose]();
  expect(server.node.labels[schedulable]).toBe("false");
});

test("an hour costs one heartbeat a minute, and nothing for unchanged labels", async () => {
  const server = fakeClient();
  const clock = new ManualClock();
  const duties = startNodeDuties(options(server.client, { clock }));
  await clock.pass(1_000);
  const before = server.writes.length;
  await clock.pass(60 * 60_000);
  expect(server.writes.length - before).toBe(60);
  await duties[Symbol.asyncDispose]();
});

test("an unavailable API server stops nothing, and the end waits for it only for a limited time", async () => {
  const server = fakeClient();
  const clock = new ManualClock();
  server.down = true;
  const duties = startNodeDuties(options(server.client, { clock }));
  await clock.pass(120_000);
  server.down = false;
  await clock.pass(60_000);
  expect(server.node.labels[schedulable]).toBe("true");
  server.down = true;
  const ended = duties[Symbol.asyncDispose]();
  await clock.pass(10_000);
  await ended;
});

test("a node with the skip annotation keeps its labels, and an obsolete host model is reported", async () => {
  const server = fakeClient();
  const clock = new ManualClock();
  const config = clusterConfig({ obsoleteCPUModels: { Old: true } });
  const more = {
    clock,
    config: () => config,
    capabilities: () => ({
      ...capabilities,
      hostModel: { name: "Old", vendor: "Intel", requiredFeatures: [] },
    }),
  };
  server.node.annotations["node-labeller.kubevirt.io/skip-node"] = "true";
  const duties = startNodeDuties(options(server.client, more));
  await clock.pass(1_000);
  expect(server.node.labels).not.toHaveProperty(["cpu-model.node.kubevirt.io/Skylake"]);
  delete server.node.annotations["node-labeller.kubevirt.io/skip-node"];
  await duties.label();
  await clock.pass(0);
  expect(server.events).toMatchObject([
    {
      involvedObject: { kind: "Node", name: "n1" },
      ...{ type: "Warning", reason: "HostModelIsObsolete" },
      source: { component: "virt-handler", host: "n1" },
    },
  ]);
  await duties[Symbol.asyncDispose]();
});
