import { existsSync } from "node:fs";
import { totalmem } from "node:os";
import { admit, mutate } from "@virtkit/api/admission";
import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import { parseQuantity } from "@virtkit/api/quantity";
import {
  checkObject,
  formatPath,
  type KubeVirtConfiguration,
  type VirtualMachineInstance,
} from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import { type ClusterObjects, lookupIn, type Pod, renderLauncherPod } from "@virtkit/launcher-pod";
import { NodeAgentError } from "../node-agent-error.ts";
import type { Accel } from "./local-accel.ts";
import type { LocalLimits } from "./local-cgroup.ts";
import { type LocalHostDisk, planLocalHostDisks } from "./plan-host-disks.ts";
import { requirePodPaths } from "./require-pod-paths.ts";
import type { DeviceNode } from "./sandbox-script.ts";

/** What {@link planMachine} works from. */
export interface MachineRequest {
  /** The VMI as its user wrote it. */
  readonly vmi: VirtualMachineInstance;
  readonly vmiUid: string;
  readonly podUid: string;
  readonly accel: Accel;
  /** ConfigMaps and the like that a Pod's rendering looks up. */
  readonly objects?: ClusterObjects;
  /** Directories of this host below which host disks may be. By default none, and host disks are refused. */
  readonly allowedHostDiskDirectories?: readonly string[] | undefined;
  readonly now: Date;
}

/** All that is decided before anything is made. */
export interface MachinePlan {
  /** Admitted: with its defaults, a UID and a namespace. */
  readonly vmi: VirtualMachineInstance;
  readonly config: ClusterConfig;
  readonly pod: Pod;
  readonly limits: LocalLimits;
  readonly devices: readonly DeviceNode[];
  readonly hostDisks: readonly LocalHostDisk[];
  /** What the conversion must know of this host. */
  readonly environment: Environment;
}

/**
 * What an API server, a controller and a scheduler would decide: the VMI with its defaults, whether it is
 * allowed, its Pod, and what the Pod may use.
 *
 * @throws NodeAgentError with the fields that are refused.
 */
export function planMachine(request: MachineRequest): MachinePlan {
  const allowed = request.allowedHostDiskDirectories ?? [];
  const configuration = localConfiguration(request.accel, allowed.length > 0);
  const config = clusterConfig(configuration);
  const vmi = admitted(request, config);
  const lookup = lookupIn(request.objects ?? {});
  const rendered = renderLauncherPod(vmi, config, lookup);
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
    limits: limitsOf(pod, request.accel),
    devices: devicesOf(request.accel),
    hostDisks: planLocalHostDisks(vmi, allowed),
    environment: {
      kubevirtConfiguration: configuration,
      skipDefaulting: true,
      hostArchitecture: architecture,
      allowEmulation: request.accel === "tcg",
      hypervisorDeviceAvailable: request.accel === "kvm",
    },
  };
}

const architecture = process.arch === "arm64" ? "arm64" : "amd64";

const vhostNet = "/dev/vhost-net";

const firmwareFolders = ["/usr/share/edk2/ovmf", "/usr/share/OVMF", "/usr/share/AAVMF"];

/**
 * A cluster's defaults. The one feature gate that is ever on is that of host disks, where the operator has
 * named directories for them. To allow emulation is also to do without `/dev/vhost-net`, which is slower
 * and no reason not to run.
 */
function localConfiguration(accel: Accel, hostDisks: boolean): KubeVirtConfiguration {
  const firmware = firmwareFolders.find((folder) => existsSync(folder));
  const useEmulation = accel === "tcg" || !existsSync(vhostNet);
  return {
    developerConfiguration: { useEmulation, featureGates: hostDisks ? ["HostDisk"] : [] },
    ...(firmware === undefined ? {} : { ovmfPath: firmware }),
  };
}

function admitted(
  { vmi: object, vmiUid, now }: MachineRequest,
  config: ClusterConfig,
): VirtualMachineInstance {
  const [issue] = checkObject(object, { group: config.names.group }).issues;
  if (issue) throw refused(formatPath(issue.path), issue.message);
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
  if (!mutation.allowed) throw refused("", mutation.message);
  const answer = admit({ kind, operation: "CREATE", object: mutation.object }, config);
  if (answer.allowed) return mutation.object as VirtualMachineInstance;
  const [cause = answer, ...more] = answer.causes;
  const rest = more.length > 0 ? ` (and ${more.length} more: virtkit validate -f FILE)` : "";
  throw refused("", `${cause.message}${wayOut(cause.message)}${rest}`);
}

/** What a cluster's administrator would turn on is an option here. */
function wayOut(message: string): string {
  if (!message.includes("feature gate HostDisk")) return "";
  return " for a directory of disks: --allow-host-disk DIR";
}

function refused(path: string, message: string): NodeAgentError {
  const text = path === "" ? message : `${path}: ${message}`;
  return new NodeAgentError("AGENT_VMI_INVALID", text, { path });
}

/**
 * The memory that the Pod asks for is also all that it gets. QEMU that emulates keeps what it translated
 * beside it: an eighth of the machine's memory and at most 1 GiB, as QEMU itself decides.
 */
function limitsOf(pod: Pod, accel: Accel): LocalLimits {
  const compute = pod.spec.containers.find(({ name }) => name === "compute");
  const { requests = {}, limits = {} } = compute?.resources ?? {};
  const memory = Number(parseQuantity(limits["memory"] ?? requests["memory"] ?? "1Gi").value());
  const translated = accel === "tcg" ? Math.min(2 ** 30, Math.floor(totalmem() / 8)) : 0;
  return { memoryBytes: memory + translated };
}

/** What device plugins would give. */
function devicesOf(accel: Accel): readonly DeviceNode[] {
  const tun = { name: "net/tun", major: 10, minor: 200 };
  if (accel === "tcg") return [tun];
  const vhost = existsSync(vhostNet) ? [{ name: "vhost-net", major: 10, minor: 238 }] : [];
  return [tun, { name: "kvm", major: 10, minor: 232 }, ...vhost];
}
