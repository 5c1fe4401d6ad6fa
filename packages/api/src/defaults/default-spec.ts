import type { ClusterConfig } from "../config/index.ts";
import { parseQuantity, Quantity, readQuantity } from "../quantity/index.ts";
import { amountOf, resource, resourceAmount } from "../resource-amount.ts";
import type { ContainerDiskSource, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { defaultNetwork } from "./default-network.ts";

/**
 * Fills in, in the draft, what decides the VMI's size and devices. The order matters: later steps read what earlier
 * ones have set.
 *
 * This is the part of defaulting that a VirtualMachine's template also gets before it is checked. Throws an
 * `ApiError` if the cluster's default network cannot be used.
 */
export function defaultSpec(draft: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  defaultArchitecture(draft, config);
  defaultMachineType(draft, config);
  defaultCpuRequest(draft, config);
  defaultGuestMemory(draft);
  defaultTopology(draft);
  defaultPullPolicies(draft);
  defaultEvictionStrategy(draft, config);
  defaultNetwork(draft, config);
  defaultDisks(draft);
}

/**
 * The part of {@link defaultSpec} that is applied before an instance type and a preference, so that what they say
 * about disks and interfaces also applies to these.
 */
export function expansionDefaults(draft: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  defaultDisks(draft);
  defaultNetwork(draft, config);
}

/** Architecture of the cluster, unless the spec has one. */
export function defaultArchitecture(
  draft: VirtualMachineInstanceSpec,
  config: ClusterConfig,
): void {
  if (draft.architecture) return;
  if (config.defaultArchitecture) draft.architecture = config.defaultArchitecture;
}

/** Machine type of the architecture, unless the spec has one. */
export function defaultMachineType(draft: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  const { domain } = draft;
  if (domain.machine?.type) return;
  domain.machine = { ...domain.machine, type: config.machineType(draft.architecture ?? "") };
}

const builtInRequest = parseQuantity("100m");

/**
 * A CPU limit is also the request. A cluster-wide request applies if there is neither, unless it is the
 * built-in one (which is applied when the Pod is made) or the CPUs are dedicated.
 */
function defaultCpuRequest({ domain }: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  domain.resources ??= {};
  const resources = domain.resources;
  const limit = resource(resources, "limits", "cpu");
  const requested = resourceAmount(resources, "requests", "cpu");
  if (limit !== undefined && !amountOf(limit).isZero() && requested.isZero()) {
    resources.requests = { ...resources.requests, cpu: limit };
  }
  if (config.cpuRequest.equals(builtInRequest)) return;
  if (resource(resources, "requests", "cpu") !== undefined || domain.cpu?.dedicatedCpuPlacement)
    return;
  resources.requests = { ...resources.requests, cpu: config.cpuRequest.toString() };
}

/** The guest's memory is the request, otherwise the limit, otherwise one hugepage. */
function defaultGuestMemory({ domain }: VirtualMachineInstanceSpec): void {
  domain.memory ??= {};
  const memory = domain.memory;
  if (memory.guest !== undefined) return;
  for (const list of ["requests", "limits"] as const) {
    const amount = resourceAmount(domain.resources, list, "memory");
    if (!amount.isZero()) {
      memory.guest = amount.toString();
      return;
    }
  }
  const page = readQuantity(memory.hugepages?.pageSize ?? "");
  if (page instanceof Quantity) memory.guest = page.toString();
}

/** Without a topology every CPU is a socket, which is fastest; the resources say how many. */
function defaultTopology({ domain }: VirtualMachineInstanceSpec): void {
  domain.cpu ??= {};
  const cpu = domain.cpu;
  if (cpu.cores || cpu.sockets || cpu.threads) return;
  const amount =
    resource(domain.resources, "limits", "cpu") ?? resource(domain.resources, "requests", "cpu");
  const sockets = amount === undefined ? 1 : Number(BigInt.asUintN(32, amountOf(amount).value()));
  // KubeVirt gets zero from a limit of zero, and then does not write it.
  if (sockets > 0) cpu.sockets = sockets;
  else delete cpu.sockets;
  cpu.cores = 1;
  cpu.threads = 1;
}

function defaultPullPolicies({ volumes }: VirtualMachineInstanceSpec): void {
  for (const { containerDisk } of volumes ?? []) {
    if (containerDisk && !containerDisk.imagePullPolicy) {
      containerDisk.imagePullPolicy = pullPolicy(containerDisk);
    }
  }
}

/** Like the kubelet: an image without a tag or digest, or tagged latest, is always pulled. */
function pullPolicy({ image }: ContainerDiskSource): "Always" | "IfNotPresent" {
  return image.endsWith(":latest") || !/[:@]/.test(image) ? "Always" : "IfNotPresent";
}

function defaultEvictionStrategy(draft: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  draft.evictionStrategy ??= config.evictionStrategy;
}

/** A volume without a disk or filesystem gets a disk. */
function defaultDisks({ domain, volumes }: VirtualMachineInstanceSpec): void {
  if (!volumes?.length) return;
  const { devices } = domain;
  const mapped = new Set<string>();
  for (const { name } of devices.disks ?? []) mapped.add(name);
  for (const { name } of devices.filesystems ?? []) mapped.add(name);
  const added = volumes.filter(({ name }) => !mapped.has(name)).map(({ name }) => ({ name }));
  if (added.length > 0) devices.disks = [...(devices.disks ?? []), ...added];
}
