/**
 * An incarnation: one run of a launcher's container in one boot of one node. The kubelet can create new containers
 * for an old Pod UID, and an agent can come back without its state, so only the incarnation that made the swap may
 * start or resume vCPUs.
 */
export interface Holder {
  readonly podUID: string;
  readonly containerID: string;
  readonly node: string;
  /** Of the node's hardware or virtual hardware: a name can be given to another node. */
  readonly machineID: string;
  readonly bootID: string;
  /** Drawn by the node agent and synced to disk before the swap: by it the agent knows its own claim again. */
  readonly nonce: string;
}

interface Counted {
  /** Empty while the grant is `Free`: the webhook that writes it does not know the UID yet. */
  readonly vmiUID: string;
  /** Grows with every holder. */
  readonly epoch: number;
  /** Grows with every change, so that no value ever repeats. */
  readonly seq: number;
}

/** Nobody has ever run. */
export interface Free extends Counted {
  readonly state: "Free";
}

/** This Pod may claim. */
export interface Granted extends Counted {
  readonly state: "Granted";
  readonly podUID: string;
}

/** Only this holder may run. */
export interface Claimed extends Counted {
  readonly state: "Claimed";
  readonly holder: Holder;
}

/**
 * A live migration. `HandingOver`: the target may receive, the source may still run. `Released`: the
 * source never runs again, the target may resume. `Committed`: post-copy may begin, the source never resumes.
 */
export interface Handover extends Counted {
  readonly state: "HandingOver" | "Released" | "Committed";
  readonly holder: Holder;
  /** The incarnation that receives, not its Pod: its end must be provable, too. */
  readonly target: Holder;
  readonly migrationUID: string;
}

/** Nothing runs. */
export interface Ended extends Counted {
  readonly state: "Ended";
}

/** Absent, malformed, or of a version that this release does not know. Never read as free. */
export interface Invalid {
  readonly state: "Invalid";
  readonly problem: string;
}

/** Who may run a VMI, as stored in its annotation. */
export type Grant = Free | Granted | Claimed | Handover | Ended;

/** The grant as it was read, which may be invalid. */
export type ReadGrant = Grant | Invalid;

/** Whether both are the same incarnation; all of its parts are compared. */
export function isSameHolder(a: Holder, b: Holder): boolean {
  return (
    a.nonce === b.nonce &&
    a.containerID === b.containerID &&
    a.podUID === b.podUID &&
    a.bootID === b.bootID &&
    a.machineID === b.machineID
  );
}

/** The grant that the webhook writes when a VMI is created. */
export const freeGrant: Free = { state: "Free", vmiUID: "", epoch: 0, seq: 0 };
