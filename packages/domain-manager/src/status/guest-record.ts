import type { DomainFacts } from "./domain-facts.ts";
import type { DomainState, DomainStatus, GuestInterface } from "./domain-status.ts";
import { isAlive } from "./guest-predicates.ts";
import { mergeInterfaces } from "./merge-interfaces.ts";
import { nonExistent } from "./state-names.ts";

/** What the guest's agent has reported. */
export type GuestTold = Partial<
  Pick<
    DomainStatus,
    "os" | "hostname" | "timezone" | "fsFreeze" | "agentVersion" | "agentCommands"
  > & { readonly interfaces: readonly GuestInterface[] }
>;

/** A fact about a guest. */
export type GuestFact =
  /** A whole look at libvirt. */
  | {
      readonly kind: "domain";
      readonly uuid: string;
      /** Changes with each start; -1 while there is no QEMU. */
      readonly id: number;
      readonly state: DomainState;
      readonly reason: string;
      readonly facts: DomainFacts;
    }
  /** libvirt knows no such domain. */
  | { readonly kind: "absent" }
  /** An answer of the agent to a run of the guest. */
  | { readonly kind: "told"; readonly id: number; readonly told: GuestTold }
  /** Access credentials were applied to the guest, or failed to be. */
  | { readonly kind: "access"; readonly synced: boolean; readonly message?: string }
  /** QEMU received a signal that ends it. */
  | { readonly kind: "signalled" }
  /** The launcher was told to end. */
  | { readonly kind: "shutdownRequested"; readonly at: string };

/** What is known about a guest, by source; {@link statusOf} combines it. */
export interface GuestRecord {
  readonly name: string;
  readonly domain?: Extract<GuestFact, { kind: "domain" }>;
  readonly told: GuestTold;
  readonly access?: DomainStatus["accessCredentials"];
  readonly signalled?: boolean;
  readonly shutdownRequestedAt?: string;
}

/** What is known before anybody has looked. */
export function unknownGuest(name: string): GuestRecord {
  return { name, told: {} };
}

/**
 * The record with one more fact. What the guest has reported is forgotten when that run has ended;
 * a later answer is ignored.
 */
export function learn(record: GuestRecord, fact: GuestFact): GuestRecord {
  switch (fact.kind) {
    case "domain": {
      const sameRun = isAlive(fact) && record.domain?.id === fact.id;
      const { signalled, ...rest } = record;
      const isNewRun = isAlive(fact) && !sameRun;
      const kept = signalled && !isNewRun ? { signalled } : {};
      return { ...rest, ...kept, domain: fact, told: sameRun ? record.told : {} };
    }
    case "absent": {
      const { domain: _, ...rest } = record;
      return { ...rest, told: {} };
    }
    case "told": {
      if (record.domain?.id !== fact.id || !isAlive(record.domain)) return record;
      return { ...record, told: { ...record.told, ...fact.told } };
    }
    case "access": {
      const { synced, message } = fact;
      return { ...record, access: message === undefined ? { synced } : { synced, message } };
    }
    case "signalled":
      return { ...record, signalled: true };
    case "shutdownRequested":
      // The first request counts: the grace period runs from it.
      return { shutdownRequestedAt: fact.at, ...record };
  }
}

/** The status of a record; the same record gives the same JSON. */
export function statusOf({
  name,
  domain,
  told,
  access,
  signalled,
  shutdownRequestedAt,
}: GuestRecord): DomainStatus {
  const { interfaces = [], ...system } = told;
  const alive = domain !== undefined && isAlive(domain);
  return {
    name,
    ...(domain === undefined ? {} : { uuid: domain.uuid }),
    state: domain?.state ?? "Absent",
    reason: domain?.reason ?? nonExistent,
    agent: alive ? domain.facts.agent : "disconnected",
    interfaces: mergeInterfaces(domain?.facts.interfaces ?? [], interfaces),
    disks: domain?.facts.disks ?? [],
    ...(domain?.facts.hardware ? { hardware: domain.facts.hardware } : {}),
    ...system,
    ...(access === undefined ? {} : { accessCredentials: access }),
    ...(signalled ? { signalled } : {}),
    ...(shutdownRequestedAt === undefined ? {} : { shutdownRequestedAt }),
  };
}
