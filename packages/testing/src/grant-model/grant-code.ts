import type { Decision, Grant, Outcome, ReadGrant } from "@virtkit/api/grant";
import { holderOf } from "./evidence.ts";
import { at, bootOf, fileOf, get, grantState, incarnationCount, nobody } from "./layout.ts";

/** A grant in the model: four numbers in one. */
export type GrantCode = number;

/** Puts the four together. */
export function grantCode(
  state: number,
  holder: number,
  target: number,
  migration: number,
): GrantCode {
  return state | (holder << 3) | (target << 6) | (migration << 9);
}

/** Nobody has ever run. */
export const freeCode: GrantCode = grantCode(grantState.Free, nobody, nobody, 0);

/** Whether a handover is in progress. */
export function isHandover(s: Uint8Array): boolean {
  const state = get(s, at.grant);
  return state >= grantState.HandingOver && state <= grantState.Committed;
}

/** The grant in a state. */
export function codeIn(s: Uint8Array): GrantCode {
  return grantCode(get(s, at.grant), get(s, at.holder), get(s, at.target), get(s, at.migration));
}

/** Boots of all incarnations, and whose the fifth one is: holders differ by them. */
export function bootsOf(s: Uint8Array): number {
  let boots = get(s, at.extraPod);
  for (let inc = 0; inc < incarnationCount; inc++) {
    boots = boots * 2 + bootOf(s, inc);
  }
  return boots;
}

const counted = { vmiUID: "vmi", epoch: 1, seq: 1 };
const grants = new Map<number, ReadGrant>();

/** A number as the grant that it stands for. */
export function readGrant(s: Uint8Array, code: GrantCode): ReadGrant {
  const key = code * 256 + bootsOf(s);
  let grant = grants.get(key);
  if (!grant) {
    grant = makeGrant(s, code);
    grants.set(key, grant);
  }
  return grant;
}

function makeGrant(s: Uint8Array, code: GrantCode): ReadGrant {
  const [holder, target, migration] = [(code >> 3) & 7, (code >> 6) & 7, code >> 9];
  const handover = (state: "HandingOver" | "Released" | "Committed"): Grant => ({
    ...counted,
    state,
    holder: holderOf(s, holder),
    target: holderOf(s, target),
    migrationUID: uidOf(migration),
  });
  switch (code & 7) {
    case grantState.Free:
      return { ...counted, state: "Free" };
    case grantState.Granted:
      return { ...counted, state: "Granted", podUID: `pod-${holder}` };
    case grantState.Claimed:
      return { ...counted, state: "Claimed", holder: holderOf(s, holder) };
    case grantState.HandingOver:
      return handover("HandingOver");
    case grantState.Released:
      return handover("Released");
    case grantState.Committed:
      return handover("Committed");
    case grantState.Ended:
      return { ...counted, state: "Ended" };
    default:
      return { state: "Invalid", problem: "it is absent" };
  }
}

/** A grant as a number; epochs and counts are left out. */
export function codeOf(grant: Grant): GrantCode {
  const state = grantState[grant.state];
  switch (grant.state) {
    case "Free":
    case "Ended":
      return grantCode(state, nobody, nobody, 0);
    case "Granted":
      return grantCode(state, last(grant.podUID), nobody, 0);
    case "Claimed":
      return grantCode(state, last(grant.holder.containerID), nobody, 0);
    default:
      return grantCode(
        state,
        last(grant.holder.containerID),
        last(grant.target.containerID),
        last(grant.migrationUID),
      );
  }
}

function last(uid: string): number {
  return Number(uid.slice(uid.lastIndexOf("-") + 1));
}

/** A migration as the rules know it. */
export function uidOf(migration: number): string {
  return `migration-${migration}`;
}

/** Decisions by their number in a file. */
export const outcomes: readonly (Outcome | undefined)[] = [
  undefined,
  undefined,
  "released",
  "aborted",
  "committed",
  "returned",
];

/** What a file says, as a decision; undefined while it says none. */
export function decisionIn(s: Uint8Array, m: number): Decision | undefined {
  const outcome = outcomes[fileOf(s, m)];
  return outcome && { migrationUID: uidOf(m), outcome };
}
