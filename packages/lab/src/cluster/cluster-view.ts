import { join } from "node:path";
import { type RunOptions, runProgram } from "../run-program.ts";
import { apiRequest } from "./api-request.ts";
import type { Cluster, NodeControl } from "./cluster.ts";
import { kubeconfigFile, serverCertificate } from "./cluster-keys.ts";
import type { ClusterLayout } from "./cluster-layout.ts";
import { nodePrograms } from "./node-config.ts";

/** A cluster as seen by a process that may control its nodes. */
export function clusterView(
  layout: ClusterLayout,
  programs: string,
  control: NodeControl,
): Cluster {
  const kubeconfig = kubeconfigFile(layout, "admin");
  const kubectl = async (args: readonly string[], options?: RunOptions): Promise<string> => {
    const own = ["--kubeconfig", kubeconfig, "--cache-dir", join(layout.directory, "kubectl")];
    return await runProgram(join(programs, "kubectl"), [...own, ...args], options);
  };
  return {
    layout,
    nodes: layout.nodes.map(({ name }) => name),
    kubeconfig,
    kubectl,
    request: (path, options) => apiRequest(kubeconfig, path, options),
    async apply(...objects) {
      const list = { apiVersion: "v1", kind: "List", items: objects };
      const args = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
      await kubectl(args, { input: JSON.stringify(list) });
    },
    async runOnNode(node, program, args = []) {
      const pid = await control.nodePid(node);
      const namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid"];
      const path = `PATH=${nodePrograms}:/usr/sbin:/usr/bin:/sbin:/bin`;
      const inside = ["--", "env", path, program, ...args];
      return await runProgram("nsenter", ["--target", `${pid}`, ...namespaces, ...inside]);
    },
    serverCertificate: (names) => serverCertificate(layout, names),
    killNode: (node) => control.killNode(node),
    startNode: (node) => control.startNode(node),
    cutNode: (node, from) => control.cutNode(node, from),
    healNode: (node) => control.healNode(node),
    stopProgram: (node, program) => control.stopProgram(node, program),
    startProgram: (node, program) => control.startProgram(node, program),
    nodePid: (node) => control.nodePid(node),
  };
}
