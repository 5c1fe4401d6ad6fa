import { isAbsolute, join, resolve } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskPaths, isDiskError, planHostDisks } from "@virtkit/domain-manager/disks";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/** A host disk of a VMI, and its allowed directory. */
export interface LocalHostDisk {
  /** The field that names it. */
  readonly field: string;
  readonly volume: string;
  /** On this host, as the VMI has it. */
  readonly path: string;
  /** The allowed directory. */
  readonly directory: string;
  /** The way from there to the file; the last one is the file's name. */
  readonly parts: readonly string[];
  /** Where the sandbox is to see it. */
  readonly target: string;
  /** No device of the guest writes to it. */
  readonly readOnly: boolean;
  /** Size in bytes to create it with if it is missing; undefined if it must exist. */
  readonly size: bigint | undefined;
}

/**
 * The host disks of a VMI, each below one of the directories that the operator allows. Pure: paths
 * are compared as strings, and whoever opens them without following links sees where they lead.
 *
 * @throws NodeAgentError if a directory is not absolute, or if a disk is outside all of them or its
 * path contains `.` or `..`.
 */
export function planLocalHostDisks(
  vmi: VirtualMachineInstance,
  allowed: readonly string[],
): readonly LocalHostDisk[] {
  const directories = allowed.map(absolute).sort((a, b) => b.length - a.length);
  const sizes = sizesOf(vmi);
  const paths = new DiskPaths();
  return (vmi.spec.volumes ?? []).flatMap(({ name: volume, hostDisk }, at): LocalHostDisk[] => {
    if (!hostDisk) return [];
    const { path } = hostDisk;
    const field = `spec.volumes[${at}].hostDisk.path`;
    const steps = stepsOf(path, field);
    const directory = directories.find((each) => isBelow(steps, each));
    if (directory === undefined) throw outside(path, field, directories);
    return [
      {
        field,
        volume,
        path,
        directory,
        parts: steps.slice(partsOf(directory).length),
        target: `${paths.hostDiskDirectory(volume)}/${steps.at(-1)}`,
        readOnly: isReadOnly(vmi, volume),
        size: sizes.get(volume),
      },
    ];
  });
}

function absolute(directory: string): string {
  if (isAbsolute(directory) && !directory.includes("\0")) return resolve(directory);
  const message = `allowedHostDiskDirectories: ${JSON.stringify(directory)} is not an absolute path`;
  throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "allowedHostDiskDirectories" });
}

function sizesOf(vmi: VirtualMachineInstance): ReadonlyMap<string, bigint> {
  try {
    return new Map(planHostDisks(vmi).map(({ volume, size }) => [volume, size]));
  } catch (error) {
    if (!isDiskError(error)) throw error;
    const { message, path } = error;
    throw new NodeAgentError("AGENT_VMI_INVALID", message, { path, cause: error });
  }
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

function stepsOf(path: string, field: string): readonly string[] {
  const steps = partsOf(path);
  const isPlain =
    isAbsolute(path) &&
    !path.endsWith("/") &&
    steps.every((step) => step !== "." && step !== ".." && !step.includes("\0"));
  if (isPlain) return steps;
  const message = `${field}: ${JSON.stringify(path)} is not an absolute path of a file; use one without . and ..`;
  throw new NodeAgentError("AGENT_VMI_INVALID", message, { path: field });
}

function isBelow(steps: readonly string[], directory: string): boolean {
  const parts = partsOf(directory);
  return parts.length < steps.length && parts.every((part, at) => steps[at] === part);
}

function outside(path: string, field: string, directories: readonly string[]): NodeAgentError {
  const found = directories.length === 0 ? "" : ` (${directories.join(", ")})`;
  const message = `${field}: ${path} is not below an allowed directory${found}; add --allow-host-disk ${join(path, "..")}`;
  return new NodeAgentError("AGENT_VMI_INVALID", message, { path: field });
}

/** Whether all that the guest sees of a volume is a CD-ROM or a disk that it cannot write to. */
function isReadOnly({ spec }: VirtualMachineInstance, volume: string): boolean {
  const disks = (spec.domain.devices.disks ?? []).filter(({ name }) => name === volume);
  return (
    disks.length > 0 &&
    disks.every(({ cdrom, disk, lun }) =>
      cdrom ? cdrom.readonly !== false : (disk?.readonly ?? lun?.readonly ?? false),
    )
  );
}
