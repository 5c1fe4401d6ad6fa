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
 * Looks at a sandbox; changes nothing. Images in containers are found and checked: only regular files
 * that are raw or self-contained qcow2 images count.
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
    images: await findImages(vmi, sandbox),
    kernelBoot: await findKernelBoot(vmi, sandbox, settings),
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

async function findImages(
  { spec }: VirtualMachineInstance,
  { containers }: Sandbox,
): Promise<Record<string, FoundImage>> {
  const images: Record<string, FoundImage> = {};
  for (const { name, containerDisk } of spec.volumes ?? []) {
    const container = Object.hasOwn(containers, name) ? containers[name] : undefined;
    if (!containerDisk || !container) continue;
    const { path, info } = await findContainerDisk(rootPath(container.root), containerDisk.path);
    images[name] = { path, ...info };
  }
  return images;
}

async function findKernelBoot(
  vmi: VirtualMachineInstance,
  { kernelBoot }: Sandbox,
  { paths }: PlanSettings,
): Promise<PreparationFacts["kernelBoot"]> {
  const found: { [artifact in "kernel" | "initrd"]?: string } = {};
  if (!kernelBoot) return found;
  for (const file of kernelBootFiles(vmi, paths)) {
    found[file.artifact] = await findKernelBootFile(rootPath(kernelBoot.root), file);
  }
  return found;
}

/** A root that is open, for functions that take a path: this process reaches the same directory by it. */
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
