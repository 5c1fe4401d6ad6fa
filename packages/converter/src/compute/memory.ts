import { type Quantity, quantityFrom } from "@virtkit/api/quantity";
import type { DomainSpec } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import { bytesOf, quantityAt } from "./byte-count.ts";

export const memory: Configurator = {
  name: "memory",
  summary: "How much memory the guest has, and how much it can be given later.",
  configure({ spec, domain }: Draft): void {
    const { guest, maxGuest } = spec.memory ?? {};
    const size = guestMemory(spec);
    domain.memory = { unit: "b", value: bytesOf(size, "spec.domain.memory.guest") };
    if (maxGuest === undefined || maxGuest === null) return;
    if (guest === undefined || guest === null) {
      const message = "is not set, but maxGuest is; set both, or only guest";
      throw invalidVmi("spec.domain.memory.guest", message);
    }
    if (guest === maxGuest) return;
    const limit = quantityAt(maxGuest, "spec.domain.memory.maxGuest");
    if (limit.equals(size)) return;
    const value = bytesOf(limit, "spec.domain.memory.maxGuest");
    domain.maxMemory = { slots: 0, unit: "b", value };
  },
};

const none = quantityFrom(0);

/** The memory that the guest sees: as set, otherwise the request, otherwise the limit, otherwise zero. */
export function guestMemory({ memory: stated, resources }: DomainSpec): Quantity {
  const guest = stated?.guest;
  if (guest !== undefined && guest !== null) return quantityAt(guest, "spec.domain.memory.guest");
  const path = "spec.domain.resources";
  const request = resources?.requests?.["memory"];
  if (request !== undefined) return quantityAt(request, `${path}.requests.memory`);
  const limit = resources?.limits?.["memory"];
  return limit === undefined ? none : quantityAt(limit, `${path}.limits.memory`);
}
