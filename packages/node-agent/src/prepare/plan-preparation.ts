import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { DiskPaths, kernelBootFiles, planHostDisks } from "@virtkit/domain-manager/disks";
import {
  type DeviceRule,
  defaultDeviceRules,
  mergeDeviceRules,
} from "@virtkit/host-primitives/device-rules";
import { unprivilegedFileContext } from "@virtkit/host-primitives/selinux";
import { NodeAgentError } from "../node-agent-error.ts";
import { lockedMemory } from "./locked-memory.ts";
import type { PreparationFacts } from "./preparation-facts.ts";
import type { PreparationStep } from "./preparation-step.ts";
import { requireShape } from "./require-shape.ts";
import { wantedDevices } from "./wanted-devices.ts";

/** What {@link planPreparation} needs to know besides the VMI and its sandbox. */
export interface PreparationOptions {
  /** Default: KubeVirt's defaults. */
  readonly config?: ClusterConfig;
  /** Default: the directories of the configuration's names. */
  readonly paths?: DiskPaths;
  /** The launcher's user. Default 107:107, as in KubeVirt. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Whether there is somebody to hand the sockets of the guest's DHCP to. Default false. */
  readonly handsOver?: boolean;
}

/** The launcher's user and group: qemu, in KubeVirt's images and Red Hat's packages. */
export const defaultOwner = { uid: 107, gid: 107 } as const;

/** Options with their defaults. */
export type PlanSettings = Required<PreparationOptions>;

export function planSettings(options: PreparationOptions): PlanSettings {
  const config = options.config ?? clusterConfig();
  return {
    config,
    paths: options.paths ?? new DiskPaths(config.names.directories),
    owner: options.owner ?? defaultOwner,
    handsOver: options.handsOver ?? false,
  };
}

/**
 * Plans everything that must be done to a sandbox before its guest can start, in order. A pure function.
 * The VMI must have its defaults, and images on its claims (`withHostDisks` of the converter). The same VMI and facts
 * give the same steps, and each step has a stable id, by which the journal identifies it.
 *
 * @throws NodeAgentError if the VMI is malformed, or the sandbox lacks what it cannot do without;
 *   DiskError if a volume asks for what cannot be made.
 *
 * @example
 * for (const step of planPreparation(vmi, await sandboxFacts(vmi, sandbox))) console.log(stepText(step));
 */
export function planPreparation(
  vmi: VirtualMachineInstance,
  facts: PreparationFacts,
  options: PreparationOptions = {},
): readonly PreparationStep[] {
  requireShape(vmi);
  const settings = planSettings(options);
  return [
    ...imageDirectorySteps(facts, settings),
    ...containerDiskSteps(vmi, facts, settings),
    ...kernelBootSteps(vmi, facts, settings),
    ...deviceSteps(vmi, facts, settings),
    ...vfioSteps(facts, settings),
    ...hostDiskSteps(vmi, facts, settings),
    ...virtiofsSteps(vmi, settings),
    ...ruleSteps(facts),
    ...memlockSteps(vmi, settings),
    // Last, so that "prepared" and "network-bound" are two handoffs, one after the other.
    ...networkSteps(vmi),
    ...socketSteps(vmi, settings),
  ];
}

/** With image volumes a Pod has no volume for what is mounted from them. */
function imageDirectorySteps(
  { imageVolumes }: PreparationFacts,
  { owner, paths }: PlanSettings,
): PreparationStep[] {
  const path = paths.containerDisks;
  return imageVolumes
    ? [{ kind: "directory", id: "container-disks", path, mode: 0o755, owner }]
    : [];
}

function containerDiskSteps(
  { spec }: VirtualMachineInstance,
  { images }: PreparationFacts,
  { paths, config }: PlanSettings,
): PreparationStep[] {
  return (spec.volumes ?? []).flatMap(({ name: volume, containerDisk }, at) => {
    if (!containerDisk) return [];
    const image = images[volume];
    if (!image) throw noContainer(`spec.volumes[${at}].containerDisk`, volume, config);
    const target = paths.containerDisk(at);
    const id = `disk/${volume}`;
    return [{ kind: "bind", id, volume, source: image.path, target, image: true }];
  });
}

function kernelBootSteps(
  vmi: VirtualMachineInstance,
  { kernelBoot }: PreparationFacts,
  { paths, config }: PlanSettings,
): PreparationStep[] {
  const files = kernelBootFiles(vmi, paths).map(({ artifact, target }): PreparationStep => {
    const source = kernelBoot[artifact];
    if (source === undefined) {
      throw noContainer("spec.domain.firmware.kernelBoot.container", "kernel-boot", config);
    }
    return { kind: "bind", id: `kernel-boot/${artifact}`, source, target, image: false };
  });
  if (files.length === 0) return [];
  const path = directoryOf(paths.kernelBoot("x"));
  return [{ kind: "directory", id: "kernel-boot", path, mode: 0o755 }, ...files];
}

function networkSteps({ spec }: VirtualMachineInstance): PreparationStep[] {
  const networks = spec.networks ?? [];
  return networks.length > 0 ? [{ kind: "network", id: "network" }] : [];
}

function deviceSteps(
  vmi: VirtualMachineInstance,
  { entries }: PreparationFacts,
  { config, owner }: PlanSettings,
): PreparationStep[] {
  return wantedDevices(vmi, config).flatMap(({ path, type, optional, ...why }) => {
    if (entries[path] === type) {
      return [{ kind: "own", id: `device${path}`, path, types: [type], ...owner }];
    }
    if (optional) return [];
    const found = entries[path] === undefined ? "does not exist" : `is a ${entries[path]}`;
    const message = `${path} ${found} in the sandbox, and ${why.because} needs it; ${why.otherwise}`;
    throw new NodeAgentError("AGENT_SANDBOX", message, { path });
  });
}

/** The container's own device is for all; each group is for the launcher. */
function vfioSteps({ vfio }: PreparationFacts, { owner }: PlanSettings): PreparationStep[] {
  return vfio.map((name): PreparationStep => {
    const path = `/dev/vfio/${name}`;
    const id = `device${path}`;
    if (name === "vfio") return { kind: "mode", id, path, mode: 0o666 };
    return { kind: "own", id, path, types: ["char", "directory"], ...owner };
  });
}

/**
 * Disks of the host, and images on claims: created on request, and then owned by the launcher. An existing
 * one keeps its owner: the VMI's author chooses the path, so changing the owner could give away any file of
 * the node (CVE-2025-64324).
 */
function hostDiskSteps(
  vmi: VirtualMachineInstance,
  { entries, selinux }: PreparationFacts,
  { paths }: PlanSettings,
): PreparationStep[] {
  const made = planHostDisks(vmi, paths);
  return made.flatMap(({ size, ...disk }): PreparationStep[] => {
    const path = `${disk.directory}/${disk.file}`;
    const make: PreparationStep = {
      kind: "hostDisk",
      id: `host-disk/${disk.volume}`,
      disk,
      bytes: String(size),
    };
    if (selinux === "disabled" || entries[path] !== undefined) return [make];
    const context = unprivilegedFileContext;
    return [make, { kind: "label", id: `label/${disk.volume}`, path, context }];
  });
}

/** Where a VMI's own host disks are in the sandbox. */
export function hostDiskPaths(
  { spec }: VirtualMachineInstance,
  paths: DiskPaths,
): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ name: volume, hostDisk }) => {
    if (!hostDisk?.path) return [];
    const file = hostDisk.path.slice(hostDisk.path.lastIndexOf("/") + 1);
    return [`${paths.hostDiskDirectory(volume)}/${file}`];
  });
}

function virtiofsSteps({ spec }: VirtualMachineInstance, { owner, paths }: PlanSettings) {
  return (spec.domain.devices.filesystems ?? []).map(({ name }): PreparationStep => {
    const directory = directoryOf(directoryOf(paths.containerDisk(0)));
    const path = `${directory}/virtiofs-containers/${name}.sock`;
    return { kind: "own", id: `virtiofs/${name}`, path, types: ["socket"], ...owner };
  });
}

/** What every container may use, as the runtimes have it: zero, full, random, urandom, tty. */
const plainDevices: readonly (readonly [number, number])[] = [
  [1, 5],
  [1, 7],
  [1, 8],
  [1, 9],
  [5, 0],
];

function ruleSteps({ deviceRules }: PreparationFacts): PreparationStep[] {
  if (!deviceRules) return [];
  const plain = plainDevices.map(
    ([major, minor]): DeviceRule => ({
      type: "c",
      major,
      minor,
      permissions: "rwm",
      allow: true,
    }),
  );
  const rules = mergeDeviceRules([...defaultDeviceRules("v2"), ...plain], deviceRules);
  return [{ kind: "devices", id: "devices", rules }];
}

function memlockSteps(vmi: VirtualMachineInstance, { config }: PlanSettings): PreparationStep[] {
  const bytes = lockedMemory(vmi, config);
  return bytes === undefined ? [] : [{ kind: "memlock", id: "memlock", bytes: String(bytes) }];
}

function socketSteps(
  { spec }: VirtualMachineInstance,
  { handsOver }: PlanSettings,
): PreparationStep[] {
  const interfaces = spec.domain.devices.interfaces ?? [];
  const served = interfaces.some(({ masquerade, bridge }) => masquerade || bridge);
  return handsOver && served ? [{ kind: "sockets", id: "sockets" }] : [];
}

/** In a cluster, a Pod that was made without image volumes never gets them. */
function noContainer(field: string, key: string, config: ClusterConfig): NodeAgentError {
  const advice = config.gate("ImageVolume")
    ? "start it first"
    : "in a cluster, images are found only as volumes of the launcher Pod: enable the feature gate ImageVolume and restart the VM";
  const message = `${field}: the sandbox has no container of "${key}" with its files; ${advice}`;
  return new NodeAgentError("AGENT_SANDBOX", message, { path: field });
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
