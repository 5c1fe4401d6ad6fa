import { type Names, names as wellKnownNames } from "@virtkit/api/names";
import { readQuantity } from "@virtkit/api/quantity";
import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { DiskError } from "./disk-error.ts";
import { type ConfigVolume, DiskPaths } from "./disk-paths.ts";
import { guardVmi } from "./guard-vmi.ts";
import { type Sealed, sealText } from "./sealed.ts";

/** One disk to create. Printable. */
export type DiskStep =
  /** An ISO image of the files mounted at `source`. */
  | {
      readonly kind: "media";
      readonly volume: string;
      readonly path: string;
      readonly source: string;
      readonly label: string;
      /** One of these files, in any case, must exist. */
      readonly needs?: readonly string[];
    }
  /** Zeros in the size of the source's image, for a migration target: libvirt copies the content. */
  | {
      readonly kind: "blank";
      readonly volume: string;
      readonly path: string;
      readonly size: number;
    }
  /** An overlay on an image; its format is read from the image if the step does not give it. */
  | {
      readonly kind: "overlay";
      readonly volume: string;
      readonly path: string;
      readonly backing: string;
      readonly format?: "raw";
    }
  /** An empty disk. */
  | {
      readonly kind: "empty";
      readonly volume: string;
      readonly path: string;
      readonly size: bigint;
    }
  /** The disk of host metrics. */
  | { readonly kind: "metrics"; readonly volume: string; readonly path: string }
  /** Ignition data. */
  | { readonly kind: "ignition"; readonly path: string; readonly content: Sealed<Uint8Array> };

/** Options of {@link planDisks}. */
export interface PlanOptions {
  readonly names?: Names;
  /** Names of volumes whose claim is a block device. */
  readonly blockVolumes?: ReadonlySet<string>;
  /** For the target of a migration: blank images of the sizes in the VMI's status. */
  readonly blankMedia?: boolean;
}

const defaultLabel = "cfgdata";
/** Windows looks for the files, not for the label. */
const sysprepLabel = "unattendCD";
const unattendFiles = ["autounattend.xml", "unattend.xml"];

/**
 * The disks that a launcher creates before its guest starts, in order. Cloud-init is not among
 * them: it needs the addresses of the running domain's devices.
 *
 * @throws DiskError if a volume asks for something that cannot be created.
 *
 * @example
 * ```ts
 * const steps = planDisks(vmi);
 * await prepareDisks(steps, { owner: { uid: 107, gid: 107 } });
 * ```
 */
export function planDisks(
  vmi: VirtualMachineInstance,
  options: PlanOptions = {},
): readonly DiskStep[] {
  return guardVmi(vmi, () => plan(vmi, options));
}

function plan(
  vmi: VirtualMachineInstance,
  { names = wellKnownNames(), blockVolumes = new Set(), blankMedia = false }: PlanOptions,
): readonly DiskStep[] {
  const paths = new DiskPaths(names.directories);
  const volumes = vmi.spec.volumes ?? [];
  const media = volumes.flatMap((volume, at) => {
    const step = mediaStep(vmi, volume, at, paths);
    return step ? [blankMedia ? blankStep(vmi, step) : step] : [];
  });
  return [
    ...ignitionSteps(vmi, names, paths),
    ...volumes.flatMap((volume, at) => imageSteps(volume, at, paths, blockVolumes)),
    ...media,
  ];
}

function ignitionSteps(vmi: VirtualMachineInstance, names: Names, paths: DiskPaths): DiskStep[] {
  const data = vmi.metadata?.annotations?.[names.annotations.ignitionData];
  if (!data) return [];
  return [{ kind: "ignition", path: paths.ignition(vmi), content: sealText(data) }];
}

function imageSteps(
  { name: volume, containerDisk, ephemeral, emptyDisk, downwardMetrics }: Volume,
  at: number,
  paths: DiskPaths,
  blockVolumes: ReadonlySet<string>,
): DiskStep[] {
  if (containerDisk) {
    return [
      { kind: "overlay", volume, path: paths.overlay(volume), backing: paths.containerDisk(at) },
    ];
  }
  if (ephemeral) {
    // A claim holds a raw image. Detecting another format from its content would let the guest
    // choose it.
    const backing = paths.claimImage(volume, blockVolumes.has(volume));
    return [{ kind: "overlay", volume, path: paths.overlay(volume), backing, format: "raw" }];
  }
  if (emptyDisk) {
    const field = `spec.volumes[${at}].emptyDisk.capacity`;
    const size = wholeMebibytes(emptyDisk.capacity, field);
    return [{ kind: "empty", volume, path: paths.emptyDisk(volume), size }];
  }
  return downwardMetrics ? [{ kind: "metrics", volume, path: paths.downwardMetrics }] : [];
}

type MediaStep = Extract<DiskStep, { kind: "media" }>;

function mediaStep(
  { spec }: VirtualMachineInstance,
  volume: Volume,
  at: number,
  paths: DiskPaths,
): MediaStep | undefined {
  const found = configVolume(volume);
  if (!found) return undefined;
  const [kind, label] = found;
  const { name } = volume;
  // A volume that is not a disk is shared with the guest as a file system.
  const isDisk = (spec.domain.devices?.disks ?? []).some((disk) => disk.name === name);
  if (!isDisk && kind !== "sysprep") return undefined;
  if (label && !/^[ -~]{1,32}$/.test(label)) {
    const path = `spec.volumes[${at}].${kind}.volumeLabel`;
    const message = `${path}: must have at most 32 letters of printable ASCII`;
    throw new DiskError("DISK_VMI_INVALID", message, { path });
  }
  const places = { path: paths.configImage(kind, name), source: paths.configSource(kind, name) };
  const step = { kind: "media", volume: name, ...places, label: label || defaultLabel } as const;
  return kind === "sysprep" ? { ...step, needs: unattendFiles } : step;
}

function configVolume(volume: Volume): readonly [ConfigVolume, string | undefined] | undefined {
  const { configMap, secret, downwardAPI, serviceAccount, sysprep } = volume;
  if (configMap) return ["configMap", configMap.volumeLabel];
  if (secret) return ["secret", secret.volumeLabel];
  if (downwardAPI) return ["downwardAPI", downwardAPI.volumeLabel];
  if (serviceAccount) return ["serviceAccount", undefined];
  return sysprep?.configMap || sysprep?.secret ? ["sysprep", sysprepLabel] : undefined;
}

function blankStep({ status }: VirtualMachineInstance, { volume, path }: MediaStep): DiskStep {
  const size = status?.volumeStatus?.find(({ name }) => name === volume)?.size;
  if (size !== undefined && size > 0) return { kind: "blank", volume, path, size };
  throw new DiskError(
    "DISK_VMI_INVALID",
    `status.volumeStatus: no size of volume "${volume}"; the source of the migration reports it`,
    { path: "status.volumeStatus" },
  );
}

const mebibyte = 1n << 20n;

/** A quantity in bytes, rounded down to whole MiB. */
export function wholeMebibytes(quantity: unknown, path: string): bigint {
  const parsed = readQuantity(String(quantity ?? ""));
  const bytes = typeof parsed === "string" ? 0n : parsed.value();
  const size = bytes - (bytes % mebibyte);
  if (size > 0n) return size;
  throw new DiskError("DISK_VMI_INVALID", `${path}: must be a quantity of at least 1Mi`, { path });
}
