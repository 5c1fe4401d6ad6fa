import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ClusterLookup } from "./cluster-lookup.ts";
import { collectProvenance, type Provenance } from "./explain.ts";
import { guardInput } from "./guard-input.ts";
import { type MemoryOverhead, memoryOverhead } from "./memory-overhead.ts";
import { openRequest, type RenderOptions } from "./open-request.ts";
import type { Pod } from "./pod/pod.ts";
import { renderPod } from "./render-pod.ts";
import { stateClaimOf } from "./state-claim.ts";

/** How a launcher Pod is rendered. */
export interface LauncherPodOptions extends RenderOptions {
  /** A Pod that only makes volumes bind that wait for their first consumer; no guest runs in it. */
  readonly temporary?: boolean;
}

const unpinned: ReadonlyMap<string, string> = new Map();

/**
 * The Pod in which a VMI runs, ready to be created.
 *
 * The VMI must be as admission leaves it: this function fills in no defaults. The Pod shares parts with the VMI and
 * the configuration (affinity, tolerations), so treat all three as immutable. Throws a `LauncherPodError` with the
 * field's path if no Pod can be rendered for the VMI, and `LAUNCHER_POD_NOT_FOUND` if an object that it needs does
 * not exist yet.
 *
 * @example
 * const pod = renderLauncherPod(vmi, clusterConfig({}), lookupIn({}));
 */
export function renderLauncherPod(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  lookup: ClusterLookup,
  options: LauncherPodOptions = {},
): Pod {
  return guardInput(vmi, () => {
    const stateClaim = stateClaimOf(vmi, lookup);
    const details = { pinnedImages: unpinned, stateClaim, temporary: options.temporary ?? false };
    return renderPod(openRequest(vmi, config, lookup, options, details));
  });
}

/** A launcher Pod with the reasons for its parts. */
export interface ExplainedPod {
  readonly pod: Pod;
  readonly provenance: readonly Provenance[];
  readonly memoryOverhead: MemoryOverhead;
}

/** Like {@link renderLauncherPod}, and also says where each part comes from. */
export function explainLauncherPod(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  lookup: ClusterLookup,
  options: Omit<LauncherPodOptions, "explain"> = {},
): ExplainedPod {
  const { explain, provenance } = collectProvenance();
  const pod = renderLauncherPod(vmi, config, lookup, { ...options, explain });
  const overhead = memoryOverhead(vmi, config, options.profile);
  return { pod, provenance: provenance(), memoryOverhead: overhead };
}
