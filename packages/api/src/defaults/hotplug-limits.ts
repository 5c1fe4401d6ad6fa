import type { ClusterConfig } from "../config/index.ts";
import { product32 } from "../product32.ts";
import { fromBytes, type Quantity } from "../quantity/index.ts";
import { amountOf } from "../resource-amount.ts";
import type { CPU, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { memoryHotplugProblem } from "./memory-hotplug.ts";

/** The upper limit of vCPUs: no machine type takes more. */
const mostVcpus = 512;

/**
 * Reserves room for CPUs and memory to be plugged in while the guest runs, if the cluster rolls out
 * changes to running guests. Not on arm64, which cannot do it.
 */
export function hotplugLimits(draft: VirtualMachineInstanceSpec, config: ClusterConfig): void {
  if (draft.architecture === "arm64" || !config.liveUpdate) return;
  const { domain } = draft;
  domain.cpu ??= {};
  const maxSockets = socketLimit(domain.cpu, config);
  if (maxSockets > 0) domain.cpu.maxSockets = maxSockets;
  domain.memory ??= {};
  const memory = domain.memory;
  if (memory.maxGuest !== undefined) return;
  const maxGuest = memoryLimit(draft, config);
  if (maxGuest && !memoryHotplugProblem(draft, maxGuest)) memory.maxGuest = maxGuest.toString();
}

function socketLimit(
  { sockets = 0, cores = 0, threads = 0, maxSockets = 0 }: CPU,
  config: ClusterConfig,
): number {
  if (maxSockets > 0) return maxSockets;
  const clusterWide = config.maxCpuSockets ?? 0;
  if (clusterWide > 0) return Math.max(clusterWide, sockets);
  const wanted = product32(sockets, config.maxHotplugRatio);
  const perSocket = product32(cores, threads);
  if (product32(wanted, perSocket) <= mostVcpus) return wanted;
  return Math.max(Math.floor(mostVcpus / perSocket), sockets);
}

function memoryLimit(
  { domain }: VirtualMachineInstanceSpec,
  config: ClusterConfig,
): Quantity | undefined {
  if (config.maxGuest) return config.maxGuest;
  const guest = domain.memory?.guest;
  if (guest === undefined) return undefined;
  return fromBytes(amountOf(guest).value() * BigInt(config.maxHotplugRatio));
}
