import type { Holder } from "./grant.ts";
import type { GuardName } from "./guards.ts";

/** A request that was refused. */
export interface Refused {
  /** The guard that refused; `no-such-step` if the grant's state has no such step. */
  readonly refused: GuardName | "no-such-step";
  readonly reason: string;
  /** Set if no component can bring the missing evidence. */
  readonly whatAPersonMustCheck?: string;
}

export function refuse(refused: Refused["refused"], reason: string, person?: string): Refused {
  return { refused, reason, ...(person && { whatAPersonMustCheck: person }) };
}

export function nameOf({ podUID, node }: Holder): string {
  return `the Pod ${podUID} on node ${node}`;
}

/** What a person must find out if nobody can prove a holder's end. */
export function checkOf({ node, bootID }: Holder): string {
  return `make sure that node ${node} (boot ${bootID}) is off, then run "virtkit fence confirm ${node}"`;
}
