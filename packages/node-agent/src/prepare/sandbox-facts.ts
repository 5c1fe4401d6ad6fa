import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  findContainerDisk,
  findKernelBootFile,
  kernelBootFiles,
} from "@virtkit/domain-manager/disks";
import {
  type DeviceRule,
  launcherDeviceRules,
  safeDeviceDirectory,
  volumesFromStart,
} from "@virtkit/host-primitives/device-rules";
import { type FileType, ifPresent, type SafeRoot } from "@virtkit/host-primitives/safe-path";
import { selinuxState } from "@virtkit/host-primitives/selinux";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { openContainer, openDiskContainer } from "./open-container.ts";
import {
  hostDiskPaths,
  type PlanSettings,
  type PreparationOptions,
  planSettings,
} from "./plan-preparation.ts";
import type { FoundImage, PreparationFacts } from "./preparation-facts.ts";
import { requireShape } from "./require-shape.ts";
import { hypervisorDevice, wantedDevices } from "./wanted-devices.ts";

/**
 * Looks at a sandbox; changes nothing. Images in containers, or in image volumes of the sandbox, are found
 * and checked: only regular files that are raw or self-contained qcow2 images count.
 *
 * @throws DiskError if a container's image is missing or refused; HostError if looking fails.
 */
export async function sandboxFacts(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  options: PreparationOptions = {},
): Promise<PreparationFacts> {
  requireShape(vmi);
  const settings = planSettings(options);
  const deviceRules = sandbox.cgroup ? rulesOf(vmi, sandbox, settings) : undefined;
  return {
    entries: entriesOf(sandbox.root, pathsToLookAt(vmi, settings)),
    vfio: namesIn(sandbox.root, "/dev/vfio"),
    ...(await findImages(vmi, sandbox, settings)),
    selinux: selinuxState(),
    ...(deviceRules ? { deviceRules } : {}),
  };
}

/** Paths in a sandbox whose presence decides what is done. */
export function pathsToLookAt(
  vmi: VirtualMachineInstance,
  { config, paths }: Pick<PlanSettings, "config" | "paths">,
): readonly string[] {
  return [...wantedDevices(vmi, config).map(({ path }) => path), ...hostDiskPaths(vmi, paths)];
}

function entriesOf(root: SafeRoot, paths: readonly string[]): Record<string, FileType> {
  const entries: Record<string, FileType> = {};
  for (const path of paths) {
    const type = ifPresent(
      () => root.resolve(path),
      (found) => found.type,
    );
    if (type !== undefined) entries[path] = type;
  }
  return entries;
}

function namesIn(root: SafeRoot, path: string): readonly string[] {
  const names = ifPresent(
    () => root.resolve(path, "directory"),
    (directory) => directory.list().sort(),
  );
  return names ?? [];
}

/** What was found in the images of a VMI. */
type ImageFacts = Pick<PreparationFacts, "images" | "kernelBoot" | "imageVolumes">;

async function findImages(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  { paths }: PlanSettings,
): Promise<ImageFacts> {
  const images: Record<string, FoundImage> = {};
  const kernelBoot: { [artifact in "kernel" | "initrd"]?: string } = {};
  let imageVolumes = false;
  for (const [at, { name, containerDisk }] of (vmi.spec.volumes ?? []).entries()) {
    if (!containerDisk) continue;
    using container = openDiskContainer(sandbox, name, paths.imageVolume(at));
    if (!container) continue;
    imageVolumes ||= container.isVolume;
    const { path, info } = await findContainerDisk(rootPath(container.root), containerDisk.path);
    images[name] = { path, ...info };
  }
  const files = kernelBootFiles(vmi, paths);
  using kernel =
    files.length > 0
      ? openContainer(sandbox.kernelBoot, sandbox, paths.kernelBootVolume)
      : undefined;
  if (!kernel) return { images, kernelBoot, imageVolumes };
  for (const file of files) {
    kernelBoot[file.artifact] = await findKernelBootFile(rootPath(kernel.root), file);
  }
  return { images, kernelBoot, imageVolumes: imageVolumes || kernel.isVolume };
}

/** An open root, for functions that take a path: this process reaches the same directory through it. */
export function rootPath({ fd }: SafeRoot): string {
  return `/proc/self/fd/${fd}`;
}

function rulesOf(
  vmi: VirtualMachineInstance,
  { root, cgroup }: Sandbox,
  { config }: PlanSettings,
): readonly DeviceRule[] {
  const { devices } = vmi.spec.domain;
  return launcherDeviceRules(
    {
      volumes: volumesFromStart(vmi, vmi.status?.nodeName ?? ""),
      randomNumbers: Boolean(devices.rng),
      vsock: devices.autoattachVSOCK === true,
      hypervisor: hypervisorDevice(config).slice("/dev/".length),
      allowEmulation: config.useEmulation,
      version: cgroup?.version === 1 ? "v1" : "v2",
    },
    safeDeviceDirectory(root),
  );
}
