import type { Cluster } from "@virtkit/lab/cluster";

/** What guests and their Pods leave on a node if somebody forgets to take it away, by kind and place. */
const looks: Readonly<Record<string, string>> = {
  process:
    "ps -e -o args= | grep -E 'qemu-system|libvirtd|virtkit-launcher|swtpm|container-disk' | grep -v grep",
  mount: "cut -d' ' -f5 /proc/self/mountinfo | grep -E '/kubelet/(pods|virtkit-operator)/'",
  namespace: "ls /run/netns",
  table: "nft list tables | grep -v kube-proxy",
  cgroup: 'find /sys/fs/cgroup -type d -path "*$(hostname)/kubepods*/pod*" -prune',
  record: "find /var/lib/kubelet/virtkit-operator -mindepth 2",
};

/** All such traces of all nodes, a line each. */
export async function nodeTraces(cluster: Cluster): Promise<string[]> {
  const found = cluster.nodes.map(async (node) => {
    const lines = Object.entries(looks).map(async ([kind, script]) => {
      const said = await cluster.runOnNode(node, "sh", ["-c", `${script} 2>/dev/null || true`]);
      return said.split("\n").flatMap((line) => (line ? [`${node} ${kind} ${line}`] : []));
    });
    return (await Promise.all(lines)).flat();
  });
  return (await Promise.all(found)).flat().sort();
}
