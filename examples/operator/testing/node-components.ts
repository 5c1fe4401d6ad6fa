import type { Cluster } from "@virtkit/lab/cluster";
import { fieldAt } from "./field-at.ts";

/** Sends a signal to a component on a node. Returns how many processes got it. */
export async function signalled(
  cluster: Cluster,
  node: string,
  component: string,
  signal: "KILL" | "STOP" | "CONT",
): Promise<number> {
  const script = `pkill -c -${signal} -f '[/]${component}\\.mjs' || true`;
  return Number(await cluster.runOnNode(node, "sh", ["-c", script]));
}

/** Sends a signal to a component on a node. Fails if it does not run there, except for SIGCONT. */
export async function signalComponent(
  cluster: Cluster,
  node: string,
  component: string,
  signal: "KILL" | "STOP" | "CONT",
): Promise<void> {
  let count = 0;
  try {
    count = await signalled(cluster, node, component, signal);
  } catch (error) {
    // A node that is off has nothing to continue.
    if (signal !== "CONT") throw error;
  }
  if (count === 0 && signal !== "CONT") throw new Error(`${node} has no ${component}`);
}

const field = async (cluster: Cluster, object: string, path: string): Promise<string> =>
  fieldAt((await cluster.request(object)).body, path);

/** The active replica of the controllers, according to the lease. */
export async function leadingController(cluster: Cluster): Promise<string> {
  const lease = "/apis/coordination.k8s.io/v1/namespaces/kubevirt/leases/virt-controller";
  return await field(cluster, lease, ".spec.holderIdentity");
}

/** Ends the active replica of the controllers, and returns its name. */
export async function killLeadingController(cluster: Cluster): Promise<string> {
  const held = await leadingController(cluster);
  // The holder's name is that of its Pod, with a suffix that differs for each process.
  const [pod = ""] = held.split("_");
  const node = await field(cluster, `/api/v1/namespaces/kubevirt/pods/${pod}`, ".spec.nodeName");
  await signalComponent(cluster, node, "virt-controller", "KILL");
  return held;
}

/** Whether all components of the platform are up, and both nodes. */
export async function isWhole(cluster: Cluster): Promise<boolean> {
  const list = async (path: string): Promise<readonly SeenPart[]> =>
    ((await cluster.request(path)).body as { items: readonly SeenPart[] }).items;
  const components = encodeURIComponent("kubevirt.io in (virt-handler, virt-controller, virt-api)");
  const parts = await Promise.all([
    list(`/api/v1/namespaces/kubevirt/pods?labelSelector=${components}`),
    list("/api/v1/nodes"),
  ]);
  return parts
    .flat()
    .every(({ status: { conditions = [] } }) =>
      conditions.some(({ type, status }) => type === "Ready" && status === "True"),
    );
}

interface SeenPart {
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Replaces Pods whose container was restarted: the kubelet delays restarts of containers that are killed often. */
export async function renewRestarted(cluster: Cluster): Promise<void> {
  const format =
    '{range .items[*]}{.metadata.name} {.status.containerStatuses[0].restartCount}{"\\n"}{end}';
  const selection = ["-l", "kubevirt.io in (virt-handler, virt-controller)"];
  const args = ["get", "pods", "-n", "kubevirt", ...selection, "-o", `jsonpath=${format}`];
  const lines = (await cluster.kubectl(args)).trim().split("\n");
  const restarted = lines.flatMap((line) => {
    const [name = "", count] = line.split(" ");
    return Number(count) > 0 ? [name] : [];
  });
  if (restarted.length === 0) return;
  await cluster.kubectl(["delete", "pod", "-n", "kubevirt", ...restarted], { timeout: 60_000 });
}
