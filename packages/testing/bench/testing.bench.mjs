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

export const benchmarks = [
  {
    name: "testing: a cluster starts and stops",
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
];
