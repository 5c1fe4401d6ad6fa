import type { ClusterConfig } from "../config/index.ts";
import { amountOf } from "../resource-amount.ts";
import type { HostDisk, VirtualMachineInstanceSpec, Volume } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { absolutePath } from "./absolute-path.ts";
import { type Cause, each, fine, invalid, join, notFound, quote, required } from "./cause.ts";
import { cloudInit } from "./cloud-init.ts";

/** The volumes, one by one, and those of which there can be only one. */
export function volumes(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const all = spec.volumes;
  if (!all?.length) return fine;
  const names = new Set<string>();
  return join(
    each(all, (volume, i) => {
      const field = `${at}.volumes[${i}]`;
      return join(
        uniqueName(volume.name, names, field),
        oneSource(volume, field),
        cloudInit(volume, field),
        downwardMetrics(volume, field, config),
        hostDisk(volume.hostDisk, field, config),
        sourceNames(volume, field),
      );
    }),
    each(single, (source) => atMostOne(all, source, `${at}.volumes`)),
  );
}

/** Disk images in container images are found by path. */
export function containerDiskPaths(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  if (!spec.volumes?.some(({ containerDisk }) => containerDisk?.path)) return fine;
  return each(spec.volumes, ({ containerDisk }, i) => {
    if (!containerDisk?.path) return fine;
    const field = `${at}.volumes[${i}].containerDisk`;
    return absolutePath(containerDisk.path, field, `${field}.path`);
  });
}

/** Utility volumes are plugged in by KubeVirt itself, never declared; even an empty list is refused. */
export function noUtilityVolumes(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  if (!isSet(spec.utilityVolumes)) return fine;
  return invalid(`${at}.utilityVolumes`, "is set by KubeVirt while a guest runs; remove it");
}

function uniqueName(name: string, seen: Set<string>, field: string): readonly Cause[] {
  if (seen.has(name))
    return invalid(`${field}.name`, `is ${quote(name)}, as in an earlier volume; rename one`);
  seen.add(name);
  return fine;
}

function oneSource(volume: Volume, field: string): readonly Cause[] {
  // Everything but the name is a source.
  const count = Object.keys(volume).length - 1;
  return join(
    volume.dataVolume && !volume.dataVolume.name
      ? required(`${field}.name`, "is missing; name the DataVolume", `${field}.dataVolume.name`)
      : fine,
    count === 1
      ? fine
      : invalid(
          field,
          `has ${count === 0 ? "no source" : `${count} sources`}; set one, for example containerDisk or persistentVolumeClaim`,
        ),
  );
}

function downwardMetrics(volume: Volume, field: string, config: ClusterConfig): readonly Cause[] {
  if (!volume.downwardMetrics || config.gate("DownwardMetrics")) return fine;
  return invalid(
    field,
    "is downwardMetrics, but the feature gate DownwardMetrics is off; turn it on",
  );
}

function hostDisk(disk: HostDisk | undefined, at: string, config: ClusterConfig): readonly Cause[] {
  if (!disk) return fine;
  const field = `${at}.hostDisk`;
  const known = disk.type === "Disk" || disk.type === "DiskOrCreate";
  return join(
    config.gate("HostDisk")
      ? fine
      : invalid(at, "is a hostDisk, but the feature gate HostDisk is off; turn it on"),
    disk.path ? fine : notFound(`${field}.path`, "is missing; give the path on the node"),
    known ? fine : invalid(`${field}.type`, `is ${quote(disk.type)}; use Disk or DiskOrCreate`),
    disk.type === "Disk" && !amountOf(disk.capacity).isZero()
      ? invalid(
          `${field}.capacity`,
          `is ${disk.capacity}, but type is Disk, which has the size of the file; remove it or use DiskOrCreate`,
        )
      : fine,
  );
}

function sourceNames(
  { configMap, secret, serviceAccount }: Volume,
  field: string,
): readonly Cause[] {
  const missing = (path: string): readonly Cause[] =>
    invalid(`${field}.${path}`, "is missing; set it");
  return join(
    configMap && !configMap.name ? missing("configMap.name") : fine,
    secret && !secret.secretName ? missing("secret.secretName") : fine,
    serviceAccount && !serviceAccount.serviceAccountName
      ? missing("serviceAccount.serviceAccountName")
      : fine,
  );
}

const single = ["serviceAccount", "downwardMetrics", "memoryDump"] as const;

function atMostOne(
  all: readonly Volume[],
  source: (typeof single)[number],
  field: string,
): readonly Cause[] {
  const count = all.filter((volume) => volume[source]).length;
  return count <= 1 ? fine : invalid(field, `has ${count} volumes with ${source}; keep one`);
}
