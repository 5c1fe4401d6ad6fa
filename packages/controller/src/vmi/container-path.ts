import type { Volume } from "@virtkit/api/schema";
import type { PodObject } from "./cluster-objects.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Volumes from a path in the launcher's own file system, which the guest sees as a shared
 * directory.
 */
function sharedPaths({ vmi }: VmiPass): readonly Volume[] {
  const shared = new Set(
    (vmi.spec.domain.devices.filesystems ?? [])
      .filter(({ virtiofs }) => virtiofs)
      .map(({ name }) => name),
  );
  return (vmi.spec.volumes ?? []).filter(
    ({ name, containerPath }) => containerPath && shared.has(name),
  );
}

/** Such volumes need a feature gate. */
export function refuseSharedPaths(pass: VmiPass): SyncFailure | undefined {
  if (sharedPaths(pass).length === 0 || pass.config.cluster.gate("ContainerPathVolumes")) {
    return undefined;
  }
  const reason = "ContainerPathVolumesDisabled";
  const message =
    "spec.volumes has a containerPath, but the feature gate ContainerPathVolumes is off";
  pass.event("Warning", reason, message);
  return { reason, message };
}

/**
 * A Pod that was created while the gate was off lacks the containers that share the directories.
 */
export function missingSharers(pass: VmiPass, { spec }: PodObject): SyncFailure | undefined {
  const present = new Set((spec?.containers ?? []).map(({ name }) => name));
  const missing = sharedPaths(pass)
    .map(({ name }) => `virtiofs-${name}`)
    .filter((name) => !present.has(name));
  if (missing.length === 0) return undefined;
  const reason = "MissingVirtiofsContainers";
  const message = `the Pod lacks ${missing.join(", ")}; delete it so that a new one is created`;
  pass.event("Warning", reason, message);
  return { reason, message };
}
