import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid, oneOf, quote } from "./cause.ts";

const policies: ReadonlySet<string> = new Set(["shared", "auto", "supplementalPool"]);

/** The policy must be known, and a supplemental pool has at least one thread. */
export function ioThreadsPolicy(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const policy = spec.domain.ioThreadsPolicy;
  if (!isSet(policy)) return fine;
  if (!policies.has(policy)) {
    return invalid(`${at}.domain.ioThreadsPolicy`, `is ${quote(policy)}; use ${oneOf(policies)}`);
  }
  const threads = spec.domain.ioThreads?.supplementalPoolThreadCount ?? 0;
  if (policy !== "supplementalPool" || threads >= 1) return fine;
  return invalid(
    `${at}.domain.ioThreads.count`,
    `is ${threads}, but ioThreadsPolicy is supplementalPool; set it to 1 or more`,
    `${at}.domain.ioThreads.supplementalPoolThreadCount`,
  );
}
