import type { ClusterConfig } from "../config/index.ts";
import { UtilityVolumeSchema, type VirtualMachineInstance } from "../schema/index.ts";
import { type Cause, duplicate, each, fine, invalid, join, quote, required } from "./cause.ts";
import { permanentVolumeNames } from "./hotplugged-storage.ts";
import { semanticallyEqual } from "./semantic-equality.ts";

/** Volumes that KubeVirt plugs in for its own use (a memory dump, a backup). */
export function utilityVolumes(change: {
  readonly now: VirtualMachineInstance;
  readonly old: VirtualMachineInstance;
  readonly config: ClusterConfig;
}): readonly Cause[] {
  const { now, old, config } = change;
  const wanted = now.spec.utilityVolumes ?? [];
  if (wanted.length === 0) return fine;
  if (!config.gate("UtilityVolumes")) {
    return invalid("spec.utilityVolumes", "needs the feature gate UtilityVolumes; turn it on");
  }
  const malformed = wellFormed(now);
  if (malformed.length > 0) return malformed;
  const permanent = permanentVolumeNames(old);
  const fixed = wanted.find(({ name }) => permanent.has(name));
  if (fixed) {
    return invalid(
      undefined,
      `spec.utilityVolumes has ${quote(fixed.name)}, which is a permanent volume; use another name`,
    );
  }
  const before = new Map(old.spec.utilityVolumes?.map((volume) => [volume.name, volume]));
  const changed = wanted.find((volume) => {
    const earlier = before.get(volume.name);
    return earlier && !semanticallyEqual(UtilityVolumeSchema, volume, earlier);
  });
  if (!changed) return fine;
  return invalid(
    undefined,
    `spec.utilityVolumes changes ${quote(changed.name)}; remove it and add another`,
  );
}

function wellFormed({ spec }: VirtualMachineInstance): readonly Cause[] {
  const volumes = new Set(spec.volumes?.map(({ name }) => name));
  const seen = new Set<string>();
  return each(spec.utilityVolumes, ({ name, claimName }, i) => {
    const field = `spec.utilityVolumes[${i}]`;
    const again = seen.has(name);
    seen.add(name);
    return join(
      name ? fine : required(`${field}.name`, "is missing; set it"),
      again
        ? duplicate(`${field}.name`, `is ${quote(name)}, as in an earlier one; rename it`)
        : fine,
      volumes.has(name)
        ? duplicate(`${field}.name`, `is ${quote(name)}, as in spec.volumes; rename it`)
        : fine,
      claimName ? fine : required(`${field}.claimName`, "is missing; name the claim"),
    );
  });
}
