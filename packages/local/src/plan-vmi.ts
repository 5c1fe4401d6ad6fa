import { existsSync } from "node:fs";
import { admit, mutate } from "@virtkit/api/admission";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import type { KubeVirtConfiguration, VirtualMachineInstance } from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import {
  type ClusterObjects,
  type LauncherProfile,
  lookupIn,
  type Pod,
  renderLauncherPod,
  virtkitLauncherProfile,
} from "@virtkit/launcher-pod";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { efiBoot } from "./compute-refusals.ts";
import {
  firmwareFolder,
  firmwareMounts,
  firmwareNames,
  type HostFirmware,
} from "./host-firmware.ts";
import type { Accel } from "./local-accel.ts";
import { type LocalArchitecture, localArchitecture } from "./local-architecture.ts";
import { type LocalLimits, localLimits } from "./local-limits.ts";
import { type LocalHostDisk, planLocalHostDisks } from "./plan-host-disks.ts";
import type { PodMount } from "./pod-volumes.ts";
import { requirePodPaths } from "./require-pod-paths.ts";
import { andMore, requireVmiShape } from "./require-vmi-shape.ts";
import type { DeviceNode } from "./sandbox-script.ts";

/** What `planVmi` works from. */
export interface VmiRequest {
  /** The VMI as its user wrote it. */
  readonly vmi: VirtualMachineInstance;
  readonly vmiUid: string;
  readonly podUid: string;
  readonly accel: Accel;
  /** Of the host. Default: this one's. */
  readonly architecture?: LocalArchitecture;
  /** Of this host, where the guest boots with EFI. */
  readonly firmware?: HostFirmware | undefined;
  /** Names of the claims that have a file of this host. */
  readonly claims?: readonly string[];
  /** ConfigMaps and the like that a Pod's rendering looks up. */
  readonly objects?: ClusterObjects;
  /** Processes and threads that the Pod may have. */
  readonly pidsLimit?: number;
  /** Directories of this host below which host disks may be. By default none, and host disks are refused. */
  readonly allowedHostDiskDirectories?: readonly string[] | undefined;
  readonly now: Date;
}

/** Everything that is decided before anything is created. */
export interface VmiPlan {
  /** Admitted: with its defaults, a UID and a namespace. */
  readonly vmi: VirtualMachineInstance;
  readonly config: ClusterConfig;
  readonly pod: Pod;
  readonly limits: LocalLimits;
  readonly devices: readonly DeviceNode[];
  /** What the sandbox sees of the host besides volumes. */
  readonly mounts: readonly PodMount[];
  readonly hostDisks: readonly LocalHostDisk[];
  /** What the conversion must know about this host. */
  readonly environment: Environment;
}

/**
 * What an API server, a controller and a scheduler would decide: the VMI with its defaults, whether it is
 * allowed, its Pod, and what the Pod may use.
 *
 * @throws NodeAgentError with the fields that are refused.
 */
export function planVmi(request: VmiRequest): VmiPlan {
  const config = configOf(request);
  return planAdmitted(admitted(request, config), config, request);
}

/** The input of {@link planAdmitted}: a request without the user's VMI. */
export type PodRequest = Omit<VmiRequest, "vmi" | "vmiUid">;

/** The Pod of a VMI that was admitted: its first one, or the one that its guest is to move into. */
export function planMove(vmi: VirtualMachineInstance, request: PodRequest): VmiPlan {
  return planAdmitted(vmi, configOf(request), request);
}

function planAdmitted(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  request: PodRequest,
): VmiPlan {
  const { architecture = localArchitecture, allowedHostDiskDirectories: allowed = [] } = request;
  const lookup = lookupIn(withClaims(request, vmi));
  const efi = efiPlan(request, vmi, architecture);
  const rendered = renderLauncherPod(vmi, config, lookup, { profile: localProfile(config) });
  const name = `virt-launcher-${vmi.metadata?.name}-${request.podUid.slice(0, 5)}`;
  const pod: Pod = {
    ...rendered,
    metadata: {
      ...rendered.metadata,
      name,
      uid: request.podUid,
      creationTimestamp: request.now.toISOString(),
    },
  };
  requirePodPaths(pod);
  return {
    vmi,
    config,
    pod,
    limits: localLimits(pod, request.accel, request.pidsLimit),
    devices: devicesOf(request.accel),
    mounts: efi.mounts,
    hostDisks: planLocalHostDisks(vmi, allowed),
    environment: {
      config,
      hostArchitecture: architecture,
      efiRoms: efi.roms,
      allowEmulation: request.accel === "tcg",
      hypervisorDeviceAvailable: request.accel === "kvm",
    },
  };
}

/** This host's equivalent of a cluster's configuration. */
export function configOf({
  accel,
  architecture = localArchitecture,
  allowedHostDiskDirectories: allowed = [],
}: Pick<PodRequest, "accel" | "architecture" | "allowedHostDiskDirectories">): ClusterConfig {
  return clusterConfig(localConfiguration(accel, allowed.length > 0), {
    cpuArchitecture: architecture,
    defaultArchitecture: architecture,
  });
}

/** There is no kubelet to check the guest; its launcher does, from inside the sandbox's network. */
function localProfile({ names }: ClusterConfig): LauncherProfile {
  const profile = virtkitLauncherProfile({ names });
  return { ...profile, command: (launch) => [...profile.command(launch), "--run-probes"] };
}

const vhostNet = "/dev/vhost-net";

/**
 * A file of this host becomes a claim with a file system and an image on it; it takes precedence
 * over a manifest's claim.
 */
function withClaims(
  { objects = {}, claims = [] }: PodRequest,
  { metadata }: VirtualMachineInstance,
): ClusterObjects {
  const { namespace = "default" } = metadata ?? {};
  const given = claims.map((name) => ({
    metadata: { name, namespace },
    spec: { volumeMode: "Filesystem", accessModes: ["ReadWriteOnce"] },
  }));
  const { persistentVolumeClaims = [] } = objects;
  return { ...objects, persistentVolumeClaims: [...given, ...persistentVolumeClaims] };
}

/** The firmware of this host under the names that the conversion knows; nothing else is there. */
function efiPlan(
  { firmware }: PodRequest,
  vmi: VirtualMachineInstance,
  architecture: LocalArchitecture,
): { readonly mounts: readonly PodMount[]; readonly roms: readonly string[] } {
  if (!firmware) return { mounts: [], roms: [] };
  const { secureBoot } = efiBoot(vmi, { architecture });
  const { code, vars } = firmwareNames(architecture, secureBoot);
  const mounts = firmwareMounts(firmware, architecture, secureBoot);
  return { mounts, roms: [code, vars] };
}

/**
 * A cluster's defaults. The only feature gate that can be on is that of host disks, if the operator
 * has named directories for them. Allowing emulation also means running without `/dev/vhost-net`,
 * which is slower and no reason not to run.
 */
function localConfiguration(accel: Accel, hostDisks: boolean): KubeVirtConfiguration {
  const useEmulation = accel === "tcg" || !existsSync(vhostNet);
  return {
    developerConfiguration: { useEmulation, featureGates: hostDisks ? ["HostDisk"] : [] },
    ovmfPath: firmwareFolder,
  };
}

function admitted(
  { vmi: object, vmiUid, now }: VmiRequest,
  config: ClusterConfig,
): VirtualMachineInstance {
  requireVmiShape(object, { group: config.names.group });
  const sent = {
    ...object,
    metadata: {
      ...object.metadata,
      namespace: object.metadata?.namespace ?? "default",
      uid: vmiUid,
      creationTimestamp: now.toISOString(),
    },
  };
  const kind = "VirtualMachineInstance";
  const mutation = mutate({ kind, operation: "CREATE", object: sent }, config);
  if (!mutation.allowed) throw refused(mutation.message);
  const answer = admit({ kind, operation: "CREATE", object: mutation.object }, config);
  if (answer.allowed) return mutation.object as VirtualMachineInstance;
  const [cause = answer, ...more] = answer.causes;
  throw refused(`${cause.message}${wayOut(cause.message)}${andMore(more.length)}`);
}

/** What a cluster's administrator would turn on is an option here. */
function wayOut(message: string): string {
  if (!message.includes("feature gate HostDisk")) return "";
  return " for a directory of disks: --allow-host-disk DIR";
}

function refused(message: string): NodeAgentError {
  return new NodeAgentError("AGENT_VMI_INVALID", message, { path: "" });
}

/** What device plugins would provide. */
function devicesOf(accel: Accel): readonly DeviceNode[] {
  const tun = { name: "net/tun", major: 10, minor: 200 };
  if (accel === "tcg") return [tun];
  const vhost = existsSync(vhostNet) ? [{ name: "vhost-net", major: 10, minor: 238 }] : [];
  return [tun, { name: "kvm", major: 10, minor: 232 }, ...vhost];
}
