import { newQuantity, newScaledQuantity, type Quantity } from "@virtkit/api/quantity";
import type { Memory } from "@virtkit/api/schema";
import { part } from "../explain.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { readAmount } from "../read-amount.ts";
import { hasQuotaOn, memoryLimitRatio } from "./automatic-limits.ts";
import type { ResourceRule } from "./resource-rule.ts";
import { increase, type ResourceSheet } from "./resource-sheet.ts";

const nothing = newQuantity(0, "BinarySI");
const from = "vmi.spec.domain.memory";

/**
 * The memory request if the VMI sets none: its limit, otherwise its guest memory (or one hugepage), less if the
 * cluster overcommits memory.
 */
export const memoryRequest: ResourceRule = (request, { limits, requests }) => {
  const { domain, config } = request;
  if (requests.get("memory")?.isZero() === false) return;
  const limit = limits.get("memory");
  if (limit && !limit.isZero()) {
    requests.set("memory", limit);
  }
  if (requests.has("memory")) return;
  const memory = guestMemory(domain.memory);
  if (!memory || memory.sign() <= 0) return;
  requests.set("memory", overcommitted(memory, config.memoryOvercommit));
};

function guestMemory(memory: Memory | undefined): Quantity | undefined {
  if (memory?.guest !== undefined && memory.guest !== null) {
    return readAmount(memory.guest, "spec.domain.memory.guest");
  }
  const pageSize = memory?.hugepages?.pageSize;
  return pageSize ? readAmount(pageSize, "spec.domain.memory.hugepages.pageSize") : undefined;
}

function overcommitted(memory: Quantity, percent: number): Quantity {
  if (percent === 100 || percent <= 0) return memory;
  return newQuantity((memory.value() * 100n) / BigInt(percent), memory.format);
}

/** Guest memory in hugepages is a separate resource; the rest is ordinary memory. */
export const hugePageMemory: ResourceRule = ({ domain, memoryOverhead, explain }, sheet) => {
  const { memory } = domain;
  if (!memory?.hugepages) return;
  const { limits, requests, derivedLimits, derivedRequests } = sheet;
  const requested = requests.get("memory") ?? nothing;
  const guest =
    memory.guest == null ? undefined : readAmount(memory.guest, "spec.domain.memory.guest");
  const pages = guest && isMore(requested, guest) ? guest : requested;
  const name = `hugepages-${memory.hugepages.pageSize ?? ""}`;
  derivedRequests.set(name, pages);
  derivedLimits.set(name, pages);
  explain?.(part.request(name), `${from}.hugepages`, "the guest's memory");
  explain?.(part.limit(name), `${from}.hugepages`, "the guest's memory");
  requests.set("memory", beyond(requested, guest).add(memoryOverhead));
  explain?.(part.request("memory"), "rule", "memory overhead: the guest's memory is in hugepages");
  const limit = limits.get("memory");
  if (!limit) return;
  limits.set("memory", beyond(limit, guest).add(memoryOverhead));
  explain?.(part.limit("memory"), "rule", "memory overhead: the guest's memory is in hugepages");
};

/** What is requested beyond the guest's memory. */
function beyond(amount: Quantity, guest: Quantity | undefined): Quantity {
  const none = newScaledQuantity(0, 3);
  return guest && isMore(amount, guest) ? none.add(amount).sub(guest) : none;
}

function isMore(a: Quantity, b: Quantity): boolean {
  return a.value() > b.value();
}

/** Memory overhead in addition to the request, unless the VMI accepts the risk; always for a limit. */
export const memoryForOverhead: ResourceRule = (request, { limits, requests }) => {
  const { domain, memoryOverhead: total, explain } = request;
  if (domain.memory?.hugepages) return;
  if (domain.resources?.overcommitGuestOverhead) {
    if (!requests.has("memory")) requests.set("memory", nothing);
    explain?.(part.request("memory"), origin(request), "without overhead: overcommitGuestOverhead");
  } else {
    increase(requests, "memory", total);
    explain?.(part.request("memory"), origin(request), `and ${total} of overhead`);
  }
  if (!limits.has("memory")) return;
  increase(limits, "memory", total);
  explain?.(part.limit("memory"), "vmi.spec.domain.resources", `and ${total} of overhead`);
};

/** Where the request comes from: see {@link memoryRequest}. */
function origin({ domain, config }: LauncherRequest): string {
  const { requests, limits } = domain.resources ?? {};
  const bound = [requests, limits].find((list) => list?.["memory"] !== undefined);
  if (bound)
    return `vmi.spec.domain.resources.${bound === requests ? "requests" : "limits"}.memory`;
  const percent = config.memoryOvercommit;
  return percent === 100 ? from : `${from} x 100 / config.developerConfiguration.memoryOvercommit`;
}

/** A memory limit, if a quota of the namespace requires one and the VMI sets none. */
export const automaticMemoryLimit: ResourceRule = (request, sheet: ResourceSheet) => {
  if (request.domain.resources?.limits?.["memory"] !== undefined) return;
  if (!hasQuotaOn(request, "limits.memory")) return;
  const memory = sheet.requests.get("memory") ?? nothing;
  const limit = Math.trunc(Number(memory.value()) * memoryLimitRatio(request));
  sheet.derivedLimits.set("memory", newQuantity(limit, memory.format));
  if (sheet.limits.has("memory")) return;
  request.explain?.(
    part.limit("memory"),
    "cluster.resourceQuotas",
    "a quota counts memory limits; a multiple of the request",
  );
};
