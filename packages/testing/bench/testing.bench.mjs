import { decide, encodeGrant, freeGrant } from "@virtkit/api/grant";
import { createTestCluster } from "@virtkit/testing/cluster";

const podsResource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

/** @param {string} name */
const pod = (name) => ({
  metadata: { namespace: "default", name },
  spec: { containers: [{ name: "main", image: "demo" }] },
});

/** A cluster with so many Pods that run. @param {number} count */
async function clusterWithPods(count) {
  const cluster = await createTestCluster({ nodes: 10 });
  const client = cluster.client();
  for (let index = 0; index < count; index++) await client.create(podsResource, pod(`p${index}`));
  await cluster.settle();
  return cluster;
}

const vmisResource = {
  ...{ group: "kubevirt.io", version: "v1", plural: "virtualmachineinstances" },
  ...{ kind: "VirtualMachineInstance", namespaced: true },
};

/** A cluster with so many guests that run, each granted to its Pod as a controller does. @param {number} count */
async function clusterWithGuests(count) {
  const cluster = await createTestCluster({ nodes: 10, guests: true });
  const client = cluster.client();
  for (let index = 0; index < count; index++) {
    const name = `vm${index}`;
    const vmi = await client.create(vmisResource, {
      metadata: { namespace: "default", name },
      spec: { domain: { devices: {} } },
    });
    const labels = { "kubevirt.io": "virt-launcher", "kubevirt.io/created-by": vmi.metadata.uid };
    const annotations = { "kubevirt.io/domain": name };
    const metadata = { namespace: "default", name: `launcher-${name}`, labels, annotations };
    const spec = { containers: [{ name: "compute", image: "launcher" }] };
    await client.create(podsResource, { metadata, spec });
  }
  await cluster.settle();
  for (const { metadata } of (await client.list(vmisResource)).items) {
    const { namespace, name } = metadata;
    const at = { namespace, name: `launcher-${name}` };
    const launcher = await client.get(podsResource, at);
    const verdict = decide(freeGrant, {
      ...{ kind: "grant", vmiUID: metadata.uid, podUID: launcher.metadata.uid },
      ...{ proofs: [], remembered: true, earlier: { remembered: [], listed: [], live: true } },
    });
    if (!("grant" in verdict)) throw new Error(verdict.reason);
    const annotations = { "virtkit.io/run-grant": encodeGrant(verdict.grant) };
    const status = { phase: "Scheduled", nodeName: launcher.spec.nodeName };
    const body = { metadata: { annotations }, status };
    await client.patch(vmisResource, { namespace, name }, { type: "merge", body });
  }
  await cluster.settle();
  const running = cluster.launchers().filter(({ isRunning }) => isRunning).length;
  if (running !== count) throw new Error(`${running} of ${count} guests run`);
  return cluster;
}

export const benchmarks = [
  {
    name: "testing: start and stop a cluster",
    goal: "under 20 ms",
    subject: {
      name: "createTestCluster, 3 nodes",
      prepare: () => undefined,
      run: async () => {
        const cluster = await createTestCluster({ nodes: 3 });
        await cluster[Symbol.asyncDispose]();
        return 1;
      },
    },
  },
  {
    name: "testing: a virtual second of 10 nodes with 100 Pods at rest",
    goal: "100,000 of them in under 5 s: 50 us each",
    subject: {
      name: "time that passes",
      prepare: () => clusterWithPods(100),
      run: async (/** @type {Awaited<ReturnType<typeof clusterWithPods>>} */ cluster) => {
        await cluster.clock.pass(2_000_000);
        await cluster[Symbol.asyncDispose]();
        return 2000;
      },
    },
  },
  {
    name: "testing: a virtual second of 10 nodes with 100 VMs at rest",
    goal: "100,000 of them in under 5 s: 50 us each",
    subject: {
      name: "time that passes",
      prepare: () => clusterWithGuests(100),
      run: async (/** @type {Awaited<ReturnType<typeof clusterWithGuests>>} */ cluster) => {
        await cluster.clock.pass(2_000_000);
        await cluster[Symbol.asyncDispose]();
        return 2000;
      },
    },
  },
];
