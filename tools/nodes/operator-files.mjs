/**
 * Files of the tier `nodes` that share one installation of the platform, in this order: the last one tests and does its
 * removal. They run after all others, because a node has one node agent.
 */
export const operatorFiles = [
  "examples/operator/life-of-a-vm.nodes.test.ts",
  "examples/operator/disks-and-networks.nodes.test.ts",
  "examples/operator/manifests.nodes.test.ts",
  "examples/operator/faults.nodes.test.ts",
  "examples/operator/operator.nodes.test.ts",
];
