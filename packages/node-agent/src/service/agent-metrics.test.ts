import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startMetricsServer } from "../metrics/metrics-server.ts";
import { AgentWorld } from "../testing/agent-world.ts";
import { bulkStats } from "../testing/bulk-stats.ts";
import { agentMetrics } from "./agent-metrics.ts";
import type { NodeHost } from "./node-host.ts";

const fileSystem = {
  ...{ diskName: "vda", mountPoint: "/", fileSystemType: "ext4", disks: [] },
  ...{ usedBytes: 1, totalBytes: 2 },
};

const capabilities = {
  ...{ usableModels: [], knownModels: [], features: [], machines: [], emulated: [] },
  deprecatedMachines: ["pc-q35-2.12"],
  ...{ sev: false, sevEs: false, sevSnp: false, tdx: false, secureExecution: false },
};

const progress = {
  ...{ total: 1000, transferred: 600, remaining: 400 },
  ...{ dirtyBytesPerSecond: 30, momentaryBytesPerSecond: 50 },
};

/** The host of a world whose launchers also answer what guests use. */
function measuring(host: NodeHost): NodeHost {
  const answers = { stats: async () => bulkStats, fileSystems: async () => [fileSystem] };
  return {
    ...host,
    find: (...args) => {
      const found = host.find(...args);
      return (
        found && {
          ...found,
          connect: async (...to) => ({ ...(await found.connect(...to)), ...answers }),
        }
      );
    },
  };
}

/** What Prometheus gets from an agent that runs a guest, which leaves for another node. */
async function scrape(): Promise<string> {
  await using world = new AgentWorld();
  await world.schedule("a");
  const agent = world.start(undefined, { host: measuring(world.host) });
  await world.clock.pass(60_000);
  const guests = () => agent.guests().map((guest) => ({ ...guest, leaving: progress as never }));
  const reported = { ready: () => true, capabilities: () => capabilities };
  await using server = await startMetricsServer({
    ...{ address: "127.0.0.1", port: 0 },
    collect: agentMetrics({ agent: { guests }, nodeName: "n1", ...reported }),
  });
  return await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
}

test("an agent that runs serves what it knows of itself, its node and its guests", async () => {
  const text = await scrape();
  expect(text).toContain("kubevirt_virt_handler_ready_status{} 1\n");
  const machine = '{machine_type="pc-q35-2.12",node="n1"}';
  expect(text).toContain(`kubevirt_node_deprecated_machine_types${machine} 1\n`);
  expect(text).toMatch(/^kubevirt_vmi_cpu_usage_seconds_total\{.*name="a".*\} 2\.5$/m);
});

test("every metric of KubeVirt's virt-handler is served, or listed in deviations.md with the reason", async () => {
  const file = new URL("../../../conformance/cases/metrics.json", import.meta.url);
  const recorded = JSON.parse(readFileSync(file, "utf8")) as {
    components: { "virt-handler": { name: string }[] };
  };
  const text = readFileSync(new URL("../../deviations.md", import.meta.url), "utf8");
  const listed = [...text.matchAll(/^\| `(kubevirt_\w+)` \| \S/gm)].map(([, name]) => name);
  const served = new Set([...(await scrape()).matchAll(/^(\w+)\{/gm)].map(([, name]) => name));
  const missing = recorded.components["virt-handler"]
    .map(({ name }) => name)
    .filter((name) => !served.has(name));
  expect(listed.toSorted()).toEqual(missing.toSorted());
});
