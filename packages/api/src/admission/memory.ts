import type { ClusterConfig } from "../config/index.ts";
import { parseQuantity, Quantity, readQuantity } from "../quantity/index.ts";
import { amountOf, resourceAmount } from "../resource-amount.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid, quote, required } from "./cause.ts";

const smallestRequest = parseQuantity("1M");

/** A memory request must not be negative; a tiny one is probably a mistake in units. */
export function memoryRequest(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const requested = resourceAmount(spec.domain.resources, "requests", "memory");
  const field = `${at}.domain.resources.requests.memory`;
  if (requested.value() < 0n) return invalid(field, `is ${requested}; it must not be negative`);
  if (requested.value() > 0n && requested.cmp(smallestRequest) < 0) {
    return invalid(field, `is ${requested}, less than 1M; was a unit (Mi, Gi) forgotten?`);
  }
  return fine;
}

/** A memory limit must not be negative or below the request. */
export function memoryLimit(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const limit = resourceAmount(spec.domain.resources, "limits", "memory");
  if (limit.isZero()) return fine;
  const path = `${at}.domain.resources`;
  if (limit.value() < 0n)
    return invalid(`${path}.limits.memory`, `is ${limit}; it must not be negative`);
  const requested = resourceAmount(spec.domain.resources, "requests", "memory");
  if (requested.value() <= limit.value()) return fine;
  return invalid(
    `${path}.requests.memory`,
    `is ${requested}, more than limits.memory ${limit}; lower the request or raise the limit`,
  );
}

/** Hugepages have a size, and the guest's memory is a multiple of it. */
export function hugepages(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const pages = spec.domain.memory?.hugepages;
  if (!pages) return fine;
  const size = readQuantity(pages.pageSize ?? "");
  if (!(size instanceof Quantity)) {
    return invalid(
      `${at}.domain.memory.hugepages.pageSize`,
      `is ${quote(pages.pageSize ?? "")}, which is not a quantity; use a size that the node has, for example 2Mi or 1Gi`,
    );
  }
  const { bytes, source } = backedMemory(spec);
  const page = size.value();
  const field = `${at}.domain.resources.requests.memory`;
  const subject = `${at}.domain.${source}`;
  if (bytes !== 0n && bytes < page) {
    return invalid(
      field,
      `is ${bytes} bytes, less than one hugepage of ${size}; raise it`,
      subject,
    );
  }
  // KubeVirt divides by a page of zero bytes here; no memory is a multiple of that.
  if (page !== 0n ? bytes % page === 0n : bytes === 0n) return fine;
  return invalid(field, `is ${bytes} bytes, not a multiple of the hugepage size ${size}`, subject);
}

/** The memory that hugepages must back: the request, otherwise the guest's memory, otherwise the limit. */
function backedMemory(spec: VirtualMachineInstanceSpec): { bytes: bigint; source: string } {
  const { resources, memory } = spec.domain;
  const requested = resourceAmount(resources, "requests", "memory").value();
  if (requested !== 0n) return { bytes: requested, source: "resources.requests.memory" };
  const guest = amountOf(memory?.guest).value();
  if (guest !== 0n) return { bytes: guest, source: "memory.guest" };
  const limit = resourceAmount(resources, "limits", "memory").value();
  return { bytes: limit, source: "resources.limits.memory" };
}

/** Without live updates the guest's memory cannot exceed the limit that its Pod will have. */
export function guestMemoryLimit(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const guest = spec.domain.memory?.guest;
  if (!isSet(guest) || config.liveUpdate) return fine;
  const limit = resourceAmount(spec.domain.resources, "limits", "memory");
  if (limit.value() === 0n || amountOf(guest).value() <= limit.value()) return fine;
  return invalid(
    `${at}.domain.memory.guest`,
    `is ${guest}, more than resources.limits.memory ${limit}; lower it or raise the limit`,
  );
}

/** Without a request, guest memory or hugepages the size of the guest is unknown. */
export function mandatoryMemory(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { resources, memory } = spec.domain;
  if (resourceAmount(resources, "requests", "memory").value() !== 0n) return fine;
  if (isSet(memory?.guest) || isSet(memory?.hugepages)) return fine;
  return required(
    undefined,
    `${at}.domain has no memory; set memory.guest, memory.hugepages.pageSize or resources.requests.memory`,
  );
}
