import type { ClusterConfig } from "@virtkit/api/config";
import { targetPodAnnotations } from "@virtkit/api/network";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import type { ClusterLookup } from "./cluster-lookup.ts";
import { part } from "./explain.ts";
import { guardInput } from "./guard-input.ts";
import { LauncherPodError } from "./launcher-pod-error.ts";
import { openRequest, type RenderOptions } from "./open-request.ts";
import type { ExistingPod, Pod } from "./pod/pod.ts";
import { renderPod } from "./render-pod.ts";
import { targetStateClaimOf } from "./state-claim.ts";
import { placeTargetPod, type SourceNode } from "./target/place-target-pod.ts";
import { sourceImages } from "./target/source-images.ts";

/** Where the guest runs before a migration. */
export interface MigrationSource {
  readonly pod: ExistingPod;
  /** The node of that Pod; not needed if the source is another cluster. */
  readonly node?: SourceNode;
}

/**
 * The Pod that a migrating VMI moves to: the launcher Pod with the images of the source pinned, not on the source's
 * node, and on a node with the same CPU if the guest depends on it.
 *
 * Throws as `renderLauncherPod` does, and with `LAUNCHER_POD_SOURCE_INVALID` if the source lacks something that the
 * target needs.
 */
export function renderMigrationTargetPod(
  vmi: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
  source: MigrationSource,
  config: ClusterConfig,
  lookup: ClusterLookup,
  options: RenderOptions = {},
): Pod {
  const pod = renderTargetTemplate(vmi, migration, source.pod, config, lookup, options);
  return guardInput(vmi, () =>
    placeTargetPod(pod, vmi, migration, source, config, options.explain),
  );
}

/** The target Pod without the rules about where it may run. */
export function renderTargetTemplate(
  vmi: VirtualMachineInstance,
  migration: VirtualMachineInstanceMigration,
  sourcePod: ExistingPod,
  config: ClusterConfig,
  lookup: ClusterLookup,
  options: RenderOptions = {},
): Pod {
  return guardInput(vmi, () => {
    const pinnedImages = sourceImages(vmi, sourcePod, config.gate("ImageVolume"));
    const stateClaim = targetStateClaimOf(vmi, migration, lookup, config.names);
    const details = { pinnedImages, stateClaim, temporary: false };
    const pod = renderPod(openRequest(vmi, config, lookup, options, details));
    Object.assign(pod.metadata.annotations ?? {}, keptNames(vmi, sourcePod, config, options));
    return pod;
  });
}

/** A guest that knows its interfaces by number keeps those numbers, unless the cluster upgrades them. */
function keptNames(
  vmi: VirtualMachineInstance,
  sourcePod: ExistingPod,
  config: ClusterConfig,
  { explain }: RenderOptions,
): Readonly<Record<string, string>> {
  const answer = targetPodAnnotations(vmi, sourcePod, config);
  if (!answer) return {};
  if ("problem" in answer) {
    const { message, path } = answer.problem;
    throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", `${path}: ${message}`, { path });
  }
  for (const key of Object.keys(answer.annotations)) {
    explain?.(part.annotation(key), "cluster.pods[source]", "interfaces keep the source's names");
  }
  return answer.annotations;
}
