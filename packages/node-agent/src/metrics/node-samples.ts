import type { NodeCapabilities } from "../duties/node-capabilities.ts";
import type { Sample } from "./guest-samples.ts";

/** What a node agent reports about itself and its node. */
export function nodeSamples(
  nodeName: string,
  {
    ready,
    capabilities,
  }: { readonly ready: boolean; readonly capabilities?: NodeCapabilities | undefined },
): Sample[] {
  const deprecated = capabilities?.deprecatedMachines ?? [];
  return [
    { metric: "kubevirt_virt_handler_ready_status", labels: {}, value: ready ? 1 : 0 },
    ...deprecated.map((machine) => ({
      metric: "kubevirt_node_deprecated_machine_types",
      labels: { machine_type: machine, node: nodeName },
      value: 1,
    })),
  ];
}
