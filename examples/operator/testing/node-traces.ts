import type { Cluster } from "@virtkit/lab/cluster";

/** What guests and their Pods may leave behind on a node, by kind and place. */
const looks: Readonly<Record<string, string>> = {
  process:
    "ps -e -o args= | grep -E 'qemu-system|libvirtd|virtkit-launcher|swtpm|container-disk' | grep -v grep",
  mount: "cut -d' ' -f5 /proc/self/mountinfo | grep -E '/kubelet/(pods|virtkit-operator)/'",
  namespace: "ls /run/netns",
  table: "nft list tables | grep -v kube-proxy",
  cgroup: 'find /sys/fs/cgroup -type d -path "*$(hostname)/kubepods*/pod*" -prune',
  record: "find /var/lib/kubelet/virtkit-operator -mindepth 2",
};

interface SeenPod {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string; readonly hostNetwork?: boolean };
}

/** All such traces on all nodes, except for those of Pods that still exist, one line each. */
export async function nodeTraces(cluster: Cluster): Promise<string[]> {
  const found = cluster.nodes.map(async (node) => {
    const lines = Object.entries(looks).map(async ([kind, script]) => {
      const said = await cluster.runOnNode(node, "sh", ["-c", `${script} 2>/dev/null || true`]);
      return said.split("\n").flatMap((line) => (line ? [`${node} ${kind} ${line}`] : []));
    });
    return (await Promise.all(lines)).flat();
  });
  const traces = (await Promise.all(found)).flat();
  // After the traces were read, so that a Pod that was created meanwhile is known.
  const { body } = await cluster.request("/api/v1/pods");
  const pods = (body as { readonly items: readonly SeenPod[] }).items;
  const isOfPod = (trace: string): boolean =>
    pods.some(({ metadata }) => trace.includes(metadata.uid));
  const namespaces = (node: string): string[] => {
    const own = traces.filter((trace) => trace.startsWith(`${node} namespace `));
    const there = pods.filter(({ spec }) => spec.nodeName === node && !spec.hostNetwork);
    // They do not say which Pod they belong to.
    return own.length > there.length ? own : [];
  };
  const others = traces.filter((trace) => !trace.includes(" namespace ") && !isOfPod(trace));
  return [...others, ...cluster.nodes.flatMap(namespaces)].sort();
}
