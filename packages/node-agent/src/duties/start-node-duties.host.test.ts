import { mkdtempSync, rmSync } from "node:fs";
import { ManualClock } from "@virtkit/api/clock";
import { clusterConfig } from "@virtkit/api/config";
import { hypervFeatures } from "@virtkit/host-primitives/kvm";
import type { KubeObject, Patch } from "@virtkit/kube";
import { runProgram } from "@virtkit/lab";
import { expect, onTestFinished, test } from "vitest";
import { NodeFiles } from "./node-files.ts";
import { type NodeDutiesOptions, startNodeDuties } from "./start-node-duties.ts";

/** The Hyper-V labels of a node whose files are these. */
async function hypervLabels(files: NodeFiles): Promise<readonly string[]> {
  const labels = new Set<string>();
  const client = {
    get: async () => ({ metadata: { name: "n1" } }) as KubeObject,
    patch: async (_: unknown, __: unknown, { body }: Extract<Patch, { type: "merge" }>) => {
      const { metadata } = body as KubeObject;
      for (const label of Object.keys(metadata.labels ?? {})) labels.add(label);
      return {} as KubeObject;
    },
    create: async () => ({}),
  } as unknown as NodeDutiesOptions["client"];
  const clock = new ManualClock();
  const config = clusterConfig();
  const duties = startNodeDuties({
    ...{ client, clock, files, nodeName: "n1", architecture: "amd64", config: () => config },
    devicesReady: () => true,
    capabilities: () => ({
      ...{ usableModels: [], knownModels: [], features: [], machines: [], emulated: [] },
      ...{ deprecatedMachines: [], sev: false, sevEs: false, sevSnp: false, tdx: false },
      secureExecution: false,
    }),
  });
  await clock.pass(1_000);
  await duties[Symbol.asyncDispose]();
  const prefix = config.names.nodeLabels.hyperv;
  return [...labels].flatMap((label) => label.split(prefix)[1] ?? []);
}

test("a node has a label for each Hyper-V feature of its KVM, and none without KVM", async () => {
  const none = mkdtempSync("/tmp/node-");
  onTestFinished(() => rmSync(none, { recursive: true }));
  expect(await hypervLabels(new NodeFiles(none))).toEqual([]);
  const found = await hypervLabels(new NodeFiles());
  expect(found.toSorted()).toEqual(hypervFeatures().toSorted());
});

/** An agent in a Pod; prints whether the node's CPU manager is static. */
const agentInPod = `
  import { clusterConfig } from "@virtkit/api/config";
  import { startNodeDuties } from "@virtkit/node-agent/duties";
  const config = clusterConfig({ developerConfiguration: { featureGates: ["CPUManager"] } });
  const patch = async (_, __, { body }) => {
    console.log(body.metadata.labels[config.names.nodeLabels.cpuManager]);
    process.exit(0);
  };
  startNodeDuties({
    ...{ client: { patch }, nodeName: "n1", architecture: "amd64", config: () => config },
    ...{ devicesReady: () => true, capabilities: () => undefined },
  });
`;

test("an agent in a Pod reads the files of its node, and not those of its Pod", async () => {
  // The first process of the node sees the kubelet's directory; the agent's mount namespace has none.
  const state = '{"policyName":"static"}';
  const onNode = `mount -t tmpfs none /var/lib && mkdir /var/lib/kubelet &&
    echo '${state}' >/var/lib/kubelet/cpu_manager_state &&
    unshare --mount sh -c "$0" "$1" "$2"; exit $?`;
  const inPod = 'umount /var/lib && exec "$0" --input-type=module -e "$1"';
  const answer = await runProgram(
    "unshare",
    [
      ...["--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", onNode],
      ...[inPod, process.execPath, agentInPod],
    ],
    { cwd: import.meta.dirname },
  );
  expect(answer.trim()).toBe("true");
});
