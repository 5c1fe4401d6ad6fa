import { names as defaultNames, type Names } from "@virtkit/api/names";
import { LauncherPodError } from "../launcher-pod-error.ts";

const kubevirtNames = defaultNames();

type Labels = Readonly<Record<string, string>>;

/**
 * Node labels that the target of a guest with CPU model `host-model` needs: the model and features of the host on
 * which the guest first started. Once the guest has migrated, the source Pod has them; before that, the source's
 * node does.
 */
export function hostModelSelector(
  sourceNodeLabels: Labels,
  sourcePodSelector: Labels,
  { nodeLabels }: Names = kubevirtNames,
): Record<string, string> {
  const remembered: Record<string, string> = {};
  for (const [key, value] of Object.entries(sourcePodSelector)) {
    if (key.includes(nodeLabels.cpuFeature) || key.includes(nodeLabels.cpuModelMigration)) {
      remembered[key] = value;
    }
  }
  if (Object.keys(remembered).length > 0) return remembered;
  return hostModelOf(sourceNodeLabels, nodeLabels);
}

/** The model and features in a node's labels, or in those that a source cluster sent. */
export function hostModelOf(
  source: Labels,
  nodeLabels: Names["nodeLabels"],
): Record<string, string> {
  const selector: Record<string, string> = {};
  let model = "";
  let supported = "";
  for (const [key, value] of Object.entries(source)) {
    if (key.startsWith(nodeLabels.hostModelCpu)) {
      model = key.slice(nodeLabels.hostModelCpu.length);
      supported = value;
    } else if (key.startsWith(nodeLabels.hostModelRequiredFeatures)) {
      const feature = key.slice(nodeLabels.hostModelRequiredFeatures.length);
      selector[`${nodeLabels.cpuFeature}${feature}`] = value;
    }
  }
  if (model === "") {
    const message = `the source node has no label ${nodeLabels.hostModelCpu}MODEL, so no matching node can be chosen; check that its node agent is running`;
    throw new LauncherPodError("LAUNCHER_POD_SOURCE_INVALID", message, { path: "status.nodeName" });
  }
  selector[`${nodeLabels.cpuModelMigration}${model}`] = supported;
  return selector;
}
