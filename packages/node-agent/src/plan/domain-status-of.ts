import type { DomainStatus } from "@virtkit/domain-manager";
import type { NodeDomain } from "./node-view.ts";

/** A domain as the status rules know it; no domain is an absent one. */
export function domainStatusOf(domain: NodeDomain | undefined): DomainStatus {
  if (!domain) {
    const nothing = { name: "", agent: "disconnected", interfaces: [], disks: [] } as const;
    return { ...nothing, state: "Absent", reason: "NonExistent" };
  }
  const { state } = domain;
  return { ...domain, state: state === "Unset" || state === "Unknown" ? "NoState" : state };
}
