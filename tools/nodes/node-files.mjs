/** How many files of the tier `nodes` run at once. Each lane has a cluster of its own. */
export const lanes = 2;

/** Files of the tier `nodes` that need the host to themselves. */
export const alone = [
  // Compares the mounts, links, rules and cgroups of the whole host before and after.
  "packages/lab/src/cluster/start-cluster.nodes.test.ts",
];

/** Files that take long; see `long` of `host-files.mjs`. */
export const long = [
  "examples/operator/migration.nodes.test.ts",
  "examples/operator/life-of-a-vm.nodes.test.ts",
  "examples/operator/faults.nodes.test.ts",
  "packages/node-agent/src/service/agent.nodes.test.ts",
  "examples/operator/disks-and-networks.nodes.test.ts",
  "examples/operator/manifests.nodes.test.ts",
  "examples/operator/operator.nodes.test.ts",
];
