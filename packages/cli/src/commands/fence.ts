import { isKubeError } from "@virtkit/kube";
import type { Io } from "../io.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";
import { chooseCluster } from "../why/cluster-client.ts";

/** Text of `virtkit fence --help`. */
export const help = `Usage: virtkit fence confirm NODE [--boot-id ID] [--context CONTEXT] [--kubeconfig FILE]
       virtkit fence lift NODE [--context CONTEXT] [--kubeconfig FILE]

A guest whose node does not answer may still run there, so it is not started elsewhere. Once you have switched
the node off, "fence confirm" lets its guests start on other nodes.

  confirm  without --boot-id: shows the node's last boot and the guests that wait for it, changes nothing,
           and exits 1. With --boot-id: marks the Node as out of service for that boot. Refused while the
           node's kubelet still reports, or if the Node's boot ID differs
  lift     marks the node as in service again; run it when the node is back

      --boot-id ID       the boot that is over, as "confirm" shows it
      --context CONTEXT  a context of your kubeconfig; default: the current one
      --kubeconfig FILE  default: $KUBECONFIG, or ~/.kube/config

The mark is the taint node.kubernetes.io/out-of-service=boot-ID:NoExecute. Kubernetes then removes all Pods of
the node that do not tolerate it, and detaches their volumes. Confirm only if you are certain that the
node is off. Otherwise, second copies of its guests start and destroy their disks.`;

/** Exits 1 if the node is not confirmed to be off. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    allowPositionals: true,
    options: {
      "boot-id": { type: "string" },
      context: { type: "string" },
      kubeconfig: { type: "string" },
    },
  });
  const [verb, node, ...others] = positionals;
  if (verb !== "confirm" && verb !== "lift")
    throw new UsageError(`fence takes confirm or lift, not "${verb ?? ""}"`);
  if (!node || others.length > 0) throw new UsageError(`fence ${verb} needs the name of one node`);
  const { context, kubeconfig, "boot-id": bootID } = values;
  if (verb === "lift" && bootID !== undefined)
    throw new UsageError("fence lift takes no --boot-id: it applies to all boots");
  const cluster = [
    ...(context === undefined ? [] : ["--context", context]),
    ...(kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig]),
  ];
  const { client, context: chosen } = await chooseCluster({ context, kubeconfig }, io);
  const { confirmFence, liftFence } = await import("../cluster/fence-node.ts");
  try {
    const wish = { client, node, cluster };
    return verb === "lift"
      ? await liftFence(wish, io)
      : await confirmFence({ ...wish, bootID }, io);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    io.stderr.write(`virtkit: the cluster of context ${chosen} says: ${error.message}\n`);
    return 1;
  } finally {
    client.close();
  }
}
