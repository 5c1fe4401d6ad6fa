import { fromBytes, newQuantity, type Quantity } from "@virtkit/api/quantity";
import { part } from "../explain.ts";
import { hasDedicatedCpus, supplementalIoThreads, vcpuCount } from "../guest-traits.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { readAmount } from "../read-amount.ts";
import { hasQuotaOn, matchesCpuLimitNamespace } from "./automatic-limits.ts";
import type { ResourceRule } from "./resource-rule.ts";
import { increase, type ResourceSheet } from "./resource-sheet.ts";

/** A whole number of CPUs. The format only affects how large numbers are written. */
const wholeCpus = (count: number): Quantity => fromBytes(count);

/**
 * Dedicated CPUs: as many as vCPUs and supplemental I/O threads, as request and limit, and one or two more for
 * the emulator if it is isolated. The memory limit follows the memory request; otherwise the Pod would not be
 * of QoS class Guaranteed.
 */
export const dedicatedCpus: ResourceRule = (request, sheet) => {
  const { spec, domain, explain } = request;
  if (!hasDedicatedCpus(spec) || !domain.cpu) return;
  const vcpus = vcpuCount(domain.cpu);
  const ioThreads = supplementalIoThreads(spec);
  const because = "one for each vCPU and I/O thread: dedicatedCpuPlacement";
  if (vcpus !== 0) {
    const total = wholeCpus(vcpus + ioThreads);
    sheet.limits.set("cpu", total);
    sheet.requests.set("cpu", total);
    explain?.(part.limit("cpu"), "vmi.spec.domain.cpu", because);
    explain?.(part.request("cpu"), "vmi.spec.domain.cpu", because);
  } else {
    addIfStated(sheet, wholeCpus(ioThreads));
  }
  if (domain.cpu.isolateEmulatorThread) isolateEmulator(request, sheet);
  const memory = sheet.requests.get("memory");
  if (!memory) return;
  sheet.limits.set("memory", memory);
  explain?.(
    part.limit("memory"),
    "vmi.spec.domain.cpu",
    "equals the request: dedicatedCpuPlacement",
  );
};

function addIfStated({ limits, requests }: ResourceSheet, cpus: Quantity): void {
  if (limits.has("cpu")) increase(limits, "cpu", cpus);
  if (requests.has("cpu")) increase(requests, "cpu", cpus);
}

function isolateEmulator(request: LauncherRequest, { limits, requests }: ResourceSheet): void {
  const cpus = wholeCpus(emulatorCpus(request, limits.get("cpu")));
  increase(limits, "cpu", cpus);
  if (requests.has("cpu")) increase(requests, "cpu", cpus);
  const because = `and ${cpus} for the emulator: isolateEmulatorThread`;
  request.explain?.(part.limit("cpu"), "vmi.spec.domain.cpu", because);
  request.explain?.(part.request("cpu"), "vmi.spec.domain.cpu", because);
}

/** Nodes that assign whole cores need an even number; the emulator takes the odd one, too. */
function emulatorCpus(
  { spec, names, annotations: own }: LauncherRequest,
  limit: Quantity | undefined,
): number {
  if (own[names.annotations.emulatorThreadCompleteToEvenParity] === undefined) return 1;
  const pool = spec.domain.ioThreadsPolicy === "supplementalPool" ? supplementalIoThreads(spec) : 0;
  const taken = (limit?.value() ?? 0n) + BigInt(pool);
  return taken % 2n === 0n ? 2 : 1;
}

/**
 * Shared CPUs: the request is the number of vCPUs and I/O threads divided by the cluster's allocation ratio,
 * unless the VMI sets one. A limit is derived only if the namespace needs one.
 */
export const sharedCpus: ResourceRule = (request, sheet) => {
  const { spec, domain, config, explain } = request;
  if (hasDedicatedCpus(spec)) return;
  const vcpus = domain.cpu ? vcpuCount(domain.cpu) : 1;
  const total = vcpus + supplementalIoThreads(spec);
  const ratio = config.cpuAllocationRatio;
  if (total === 0 || ratio <= 0) return;
  sheet.derivedRequests.set("cpu", shareOf(total, ratio));
  if (!sheet.requests.has("cpu")) {
    explain?.(
      part.request("cpu"),
      "config.developerConfiguration.cpuAllocationRatio",
      `${total} vCPUs and I/O threads, ${ratio} to a CPU`,
    );
  }
  if (!needsCpuLimit(request)) return;
  sheet.derivedLimits.set("cpu", newQuantity(total, "DecimalSI"));
  explain?.(part.limit("cpu"), "cluster.namespace", "the namespace requires a CPU limit");
};

/** Rounds like floating point, and then up to a billionth. */
function shareOf(cpus: number, ratio: number): Quantity {
  const share = cpus / ratio;
  const path = "configuration.developerConfiguration.cpuAllocationRatio";
  return readAmount(share < 1 ? `${share * 1000}m` : `${share}`, path);
}

function needsCpuLimit(request: LauncherRequest): boolean {
  if (request.domain.resources?.limits?.["cpu"] !== undefined) return false;
  return hasQuotaOn(request, "limits.cpu") || matchesCpuLimitNamespace(request);
}
