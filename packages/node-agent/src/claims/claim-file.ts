import {
  type Claimed,
  freeGrant,
  type Grant,
  type Holder,
  type ProofOfEnd,
  type ReadGrant,
} from "@virtkit/api/grant";
import {
  currentBootId,
  hasEnded,
  isProcessIdentity,
  type ProcessIdentity,
} from "../sandbox/process-identity.ts";
import type { GrantCodec } from "./file-grant-store.ts";

/** Who may run a guest, on disk. */
export interface RunClaim {
  readonly vmiUid: string;
  readonly podUid: string;
  /** Grows with every claim of the same VMI. */
  readonly epoch: number;
  /** First process of the sandbox: while it runs the guest may. */
  readonly process: ProcessIdentity;
}

const version = 1;
/** A host without an API server knows only itself. */
const here = "localhost";

/** A sandbox's first process as the holder of a grant: a process for all time is an incarnation. */
export function holderOf(podUid: string, { pid, startTime, bootId }: ProcessIdentity): Holder {
  const containerID = `process://${pid}/${startTime}`;
  return { podUID: podUid, containerID, node: here, machineID: here, bootID: bootId, nonce: here };
}

/** The process that a holder of this host is. */
export function processOf({ containerID, bootID }: Holder): ProcessIdentity {
  const [pid = "", startTime = ""] = containerID.slice("process://".length).split("/");
  return { pid: Number(pid), startTime, bootId: bootID };
}

/** What proves that a holder of this host has ended, if it has. Whatever cannot be told throws. */
export function proofsOf(holder: Holder): readonly ProofOfEnd[] {
  const { containerID, machineID, bootID } = holder;
  const current = currentBootId();
  if (bootID !== current) return [{ kind: "bootChanged", machineID, bootID: current }];
  return hasEnded(processOf(holder), current)
    ? [{ kind: "processGone", containerID, bootID, seen: "pidfd" }]
    : [];
}

/** What a claim says, as plain data. */
export function claimOf({ vmiUID, epoch, holder }: Claimed): RunClaim {
  return { vmiUid: vmiUID, podUid: holder.podUID, epoch, process: processOf(holder) };
}

/** Claims as they have always been on disk: a grant on one host is claimed or not there. */
export const claimCodec: GrantCodec = {
  encode(grant: Grant): string {
    if (grant.state !== "Claimed") throw new TypeError(`a claim cannot be ${grant.state}`);
    return JSON.stringify({ version, ...claimOf(grant) });
  },
  decode(text: string): ReadGrant {
    let fields: Partial<RunClaim> & { version?: unknown };
    try {
      fields = Object(JSON.parse(text));
    } catch {
      // The grant itself says so, and permits nothing.
      return invalid("it is not JSON");
    }
    const { vmiUid, podUid, epoch, process } = fields;
    if (fields.version !== version)
      return invalid("it is not of a version that this release knows");
    const isCount = Number.isSafeInteger(epoch) && (epoch as number) > 0;
    const isNamed = typeof vmiUid === "string" && typeof podUid === "string";
    if (!isNamed || !isCount || !isProcessIdentity(process)) return invalid("a field is missing");
    const holder = holderOf(podUid, process);
    return {
      state: "Claimed",
      vmiUID: vmiUid,
      epoch: epoch as number,
      seq: epoch as number,
      holder,
    };
  },
};

/** Nobody has claimed on this host. */
export const unclaimed: ReadGrant = freeGrant;

function invalid(problem: string): ReadGrant {
  return { state: "Invalid", problem };
}
