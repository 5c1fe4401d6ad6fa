// Starts a cluster of one node, says so, and waits to be killed. Argument: the cluster's name.
import { startCluster } from "@virtkit/lab/cluster";

const cluster = await startCluster({ name: process.argv[2] ?? "", nodes: 1 });
process.stdout.write(`${cluster.layout.directory}\n`);
setInterval(() => {}, 60_000);
