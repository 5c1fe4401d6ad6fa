import type { Cluster } from "@virtkit/lab/cluster";

/** One way to look at a node. A command that fails, or that does not see what every node has, fails the whole look. */
interface Look {
  readonly kind: string;
  readonly script: string;
  /** Of the lines, which ones guests and their Pods may leave behind. Default: all. */
  readonly isTrace?: (line: string) => boolean;
  /** What is on every node that runs. A look that does not find it is broken. */
  readonly always?: RegExp;
}

const looks: readonly Look[] = [
  {
    kind: "process",
    script: "ps -e -o args=",
    isTrace: (line) =>
      /qemu-system|libvirtd|virtlogd|virtkit-launcher|swtpm|container-disk|virt-(tail|probe|freezer)/.test(
        line,
      ),
    always: /kubelet/,
  },
  {
    kind: "mount",
    script: "cut -d' ' -f5 /proc/self/mountinfo",
    isTrace: (line) => /\/kubelet\/(pods|virtkit-[a-z]+)\//.test(line),
    always: /^\/$/m,
  },
  { kind: "namespace", script: "mkdir -p /run/netns && ls /run/netns" },
  {
    kind: "table",
    script: "nft list tables",
    isTrace: (line) => !line.includes("kube-proxy"),
    always: /kube-proxy/,
  },
  {
    kind: "cgroup",
    script:
      'find /sys/fs/cgroup -ignore_readdir_race -type d -path "*$(hostname)/kubepods*/pod*" -prune',
  },
  {
    // The directories of agents, each of which has one level of its own.
    kind: "record",
    script:
      'for d in /var/lib/kubelet/virtkit-*; do [ ! -d "$d" ] || find "$d" -ignore_readdir_race -mindepth 2 || exit 1; done',
  },
];

/**
 * The kinds of traces that a node has of every running guest. Its tables are in the network namespace of its Pod, and the
 * kubelet mounts nothing for a guest without claims.
 */
export const kindsOfGuests = ["cgroup", "namespace", "process", "record"] as const;

/**
 * Everything on all nodes that guests and Pods, also running ones, leave traces of: `NODE KIND WHAT`, one line each.
 * Rejects if one of the looks fails.
 */
export async function allTraces(cluster: Cluster): Promise<string[]> {
  const found = cluster.nodes.map(async (node) => {
    const lines = looks.map(async ({ kind, script, isTrace = () => true, always }) => {
      const said = await cluster.runOnNode(node, "sh", ["-c", script]);
      if (always && !always.test(said)) {
        throw new Error(`"${script}" on ${node} does not find ${always}: ${said}`);
      }
      const traces = said.split("\n").filter((line) => line !== "" && isTrace(line));
      return traces.map((line) => `${node} ${kind} ${line}`);
    });
    return (await Promise.all(lines)).flat();
  });
  return (await Promise.all(found)).flat();
}

/** The kinds of traces that are on the nodes now, and were not there before: the control of {@link nodeTraces}. */
export async function kindsSince(cluster: Cluster, before: readonly string[]): Promise<string[]> {
  const added = (await allTraces(cluster)).filter((trace) => !before.includes(trace));
  return [...new Set(added.map((trace) => trace.split(" ")[1] ?? ""))].sort();
}

interface SeenPod {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string; readonly hostNetwork?: boolean };
}

/** All such traces on all nodes, except for those of Pods that still exist. */
export async function nodeTraces(cluster: Cluster): Promise<string[]> {
  const traces = await allTraces(cluster);
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
