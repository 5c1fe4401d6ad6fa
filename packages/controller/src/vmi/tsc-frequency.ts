import { text } from "@virtkit/api/shape";
import { lowestFrequency } from "../node/tsc-frequencies.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";

/** Whether the guest needs a TSC frequency, to boot or to be migratable. */
export function tscNeed({ vmi }: VmiPass): "boot" | "migration" | undefined {
  const { architecture, domain } = vmi.spec;
  if (architecture !== "amd64") return undefined;
  const isInvariant = (domain.cpu?.features ?? []).some(
    ({ name, policy }) => name === "invtsc" && (policy === "require" || policy === "force"),
  );
  if (isInvariant) return "boot";
  return domain.features?.hyperv?.reenlightenment?.enabled === true ? "migration" : undefined;
}

/** Whether the Pod has to wait for the guest's frequency. */
export function lacksTscHint(pass: VmiPass): boolean {
  return pass.vmi.status?.topologyHints === undefined && tscNeed(pass) !== undefined;
}

/** Gives the guest the lowest frequency of the cluster, so that it can run on every node. */
export function hintTscFrequency(pass: VmiPass): SyncFailure | undefined {
  if (!lacksTscHint(pass)) return undefined;
  const configured = pass.config.cluster.minimumClusterTscFrequency;
  if (configured !== undefined && configured <= 0) {
    if (tscNeed(pass) !== "boot") return undefined;
    const reason = "FailedGatherhingClusterTopologyHints";
    const message = `minimumClusterTSCFrequency is ${configured}; it must be greater than 0`;
    pass.event("Warning", reason, message);
    return { reason, message };
  }
  const tscFrequency = configured ?? lowest(pass);
  pass.status = { ...pass.status, topologyHints: { tscFrequency } };
  return undefined;
}

function lowest({ view, names }: VmiPass): number {
  const inUse = new Set(view.vmis().map(({ status }) => text(status?.nodeName)));
  return lowestFrequency(view.nodes(), (node) => inUse.has(node), names);
}
