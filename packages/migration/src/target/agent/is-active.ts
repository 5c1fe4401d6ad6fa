import type { MigratingDomain } from "../../migrating-domain.ts";

/** Whether a copy at the target is the guest: it runs, or its user has paused it. */
export function isActive(domain: MigratingDomain | undefined): boolean {
  if (domain?.state === "Running") return true;
  return domain?.state === "Paused" && domain.reason === "User";
}
