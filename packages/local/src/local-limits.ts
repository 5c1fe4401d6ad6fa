import { totalmem } from "node:os";
import { parseQuantity } from "@virtkit/api/quantity";
import type { Pod } from "@virtkit/launcher-pod";
import type { Accel } from "./local-accel.ts";

/** Limits for all processes of a Pod together. */
export interface LocalLimits {
  /** Memory; there is no swap, as with a kubelet. */
  readonly memoryBytes: number;
  /** CPU time per period in microseconds; unlimited if absent. */
  readonly cpuQuota?: { readonly quotaUs: number; readonly periodUs: number };
  /** Share of the CPU relative to other Pods where they compete for it: 1,024 for each CPU requested. */
  readonly cpuShares?: number;
  /** Processes and threads. */
  readonly pids: number;
}

/**
 * Processes and threads of a Pod by default. A thread for each of 512 vCPUs, QEMU's pool of 64 for each
 * disk that is busy, libvirtd and the launcher stay well below it.
 */
export const defaultPids = 4096;

/** CFS period, and the smallest quota that the kernel accepts. */
const periodUs = 100_000;
const leastQuotaUs = 1_000;

/**
 * What a kubelet would derive from the resources of the Pod's container: the requested memory is
 * also the limit, the CPU limit is a quota, the CPU request a share. QEMU with emulation also keeps
 * its translated code: an eighth of the host's memory and at most 1 GiB, as QEMU itself decides.
 */
export function localLimits(pod: Pod, accel: Accel, pids: number = defaultPids): LocalLimits {
  const compute = pod.spec.containers.find(({ name }) => name === "compute");
  const { requests = {}, limits = {} } = compute?.resources ?? {};
  const memory = Number(parseQuantity(limits["memory"] ?? requests["memory"] ?? "1Gi").value());
  const translated = accel === "tcg" ? Math.min(2 ** 30, Math.floor(totalmem() / 8)) : 0;
  const limit = milliCpus(limits["cpu"]);
  return {
    memoryBytes: memory + translated,
    ...(limit > 0 ? { cpuQuota: { quotaUs: quotaOf(limit), periodUs } } : {}),
    cpuShares: sharesOf(milliCpus(requests["cpu"] ?? limits["cpu"])),
    pids,
  };
}

function milliCpus(quantity = "0"): number {
  return Number(parseQuantity(quantity).milliValue());
}

function quotaOf(milli: number): number {
  return Math.max(leastQuotaUs, Math.floor((milli * periodUs) / 1000));
}

/** In the bounds of the kernel. */
function sharesOf(milli: number): number {
  return Math.min(262_144, Math.max(2, Math.floor((milli * 1024) / 1000)));
}
