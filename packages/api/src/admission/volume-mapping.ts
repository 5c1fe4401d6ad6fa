import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstanceSpec, Volume } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote } from "./cause.ts";

/**
 * Every volume is shown to the guest by a disk or a file system. For a VirtualMachineInstance only: a
 * VirtualMachine's template gets its missing disks when it runs.
 */
export function volumeMapping(
  spec: VirtualMachineInstanceSpec,
  at: string,
  { names: { directories } }: ClusterConfig,
): readonly Cause[] {
  if (!spec.volumes?.length) return fine;
  const { disks, filesystems } = spec.domain.devices;
  const diskNames = new Set(disks?.map(({ name }) => name));
  const filesystemNames = new Set(filesystems?.map(({ name }) => name));
  const reserved = [directories.share, directories.libvirt];
  return each(spec.volumes, (volume, i) => {
    if (volume.memoryDump) return fine;
    const shown = {
      disk: diskNames.has(volume.name),
      filesystem: filesystemNames.has(volume.name),
    };
    const where = { field: `${at}.domain.volumes[${i}]`, subject: `${at}.volumes[${i}]` };
    return join(isShown(volume, shown, where), containerPath(volume, shown, where, reserved));
  });
}

interface Shown {
  readonly disk: boolean;
  readonly filesystem: boolean;
}

/** The reported path has one `domain` too many, as in KubeVirt. */
interface Where {
  readonly field: string;
  readonly subject: string;
}

function isShown({ name }: Volume, shown: Shown, { field, subject }: Where): readonly Cause[] {
  if (shown.disk || shown.filesystem) return fine;
  return invalid(
    `${field}.name`,
    `is ${quote(name)}, but no disk or filesystem has that name; add one to domain.devices`,
    `${subject}.name`,
  );
}

function containerPath(
  volume: Volume,
  shown: Shown,
  { field, subject }: Where,
  reservedPaths: readonly string[],
): readonly Cause[] {
  const path = volume.containerPath?.path;
  if (path === undefined) return fine;
  const reserved = reservedPaths.find((prefix) => path.startsWith(prefix));
  return join(
    shown.disk ? invalid(field, "is a containerPath with a disk; use a filesystem", subject) : fine,
    shown.filesystem
      ? fine
      : invalid(field, "is a containerPath without a filesystem; add one", subject),
    reserved
      ? invalid(
          `${field}.containerPath.path`,
          `is ${quote(path)}, below ${reserved}, which KubeVirt uses itself; choose another path`,
          `${subject}.containerPath.path`,
        )
      : fine,
  );
}
