import {
  type Claimed,
  decodeGrant,
  encodeGrant,
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
  /** Increases with every claim of the same VMI. */
  readonly epoch: number;
  /** First process of the sandbox: the guest may run while it does. */
  readonly process: ProcessIdentity;
}

const version = 1;
/** A host without an API server knows only itself. */
const here = "localhost";

/** A sandbox's first process as the holder of a grant: a process that is unique for all time is an incarnation. */
export function holderOf(podUid: string, { pid, startTime, bootId }: ProcessIdentity): Holder {
  const containerID = `process://${pid}/${startTime}`;
  return { podUID: podUid, containerID, node: here, machineID: here, bootID: bootId, nonce: here };
}

/** The process behind a holder on this host. */
export function processOf({ containerID, bootID }: Holder): ProcessIdentity {
  const [pid = "", startTime = ""] = containerID.slice("process://".length).split("/");
  return { pid: Number(pid), startTime, bootId: bootID };
}

/** Whom a grant names: its holder, and the target of a handover. */
export function namedBy(grant: Grant): readonly Holder[] {
  if (!("holder" in grant)) return [];
  return "target" in grant ? [grant.holder, grant.target] : [grant.holder];
}

/** What proves that a holder on this host has ended, if it has. Throws if that cannot be determined. */
export function proofsOf(holder: Holder): readonly ProofOfEnd[] {
  const { containerID, machineID, bootID } = holder;
  const current = currentBootId();
  if (bootID !== current) return [{ kind: "bootChanged", machineID, bootID: current }];
  return hasEnded(processOf(holder), current)
    ? [{ kind: "processGone", containerID, bootID, seen: "pidfd" }]
    : [];
}

/** What a grant says about one of those it names, as plain data. */
export function claimOf(
  { vmiUID, epoch }: Pick<Claimed, "vmiUID" | "epoch">,
  { podUID, ...holder }: Holder,
): RunClaim {
  return { vmiUid: vmiUID, podUid: podUID, epoch, process: processOf({ podUID, ...holder }) };
}

/**
 * A claim as it has always been on disk, with the number of changes if that differs from the epoch; the
 * states of a handover as an annotation has them.
 */
export const claimCodec: GrantCodec = {
  encode(grant: Grant): string {
    if ("target" in grant) return encodeGrant(grant);
    if (grant.state !== "Claimed") throw new TypeError(`a claim cannot be ${grant.state}`);
    const { seq, epoch } = grant;
    const counted = seq === epoch ? {} : { seq };
    return JSON.stringify({ version, ...claimOf(grant, grant.holder), ...counted });
  },
  decode(text: string): ReadGrant {
    let fields: Partial<RunClaim> & { version?: unknown; seq?: unknown; state?: unknown };
    try {
      fields = Object(JSON.parse(text));
    } catch {
      // The grant itself says so, and permits nothing.
      return invalid("it is not JSON");
    }
    if (fields.state !== undefined) return decodeHandover(text);
    const { vmiUid, podUid, epoch, process, seq = epoch } = fields;
    if (fields.version !== version) return invalid("its version is unknown to this release");
    const isNamed = typeof vmiUid === "string" && typeof podUid === "string";
    const isCounted = isCount(epoch) && isCount(seq);
    if (!isNamed || !isCounted || !isProcessIdentity(process)) return invalid("a field is missing");
    return { state: "Claimed", vmiUID: vmiUid, epoch, seq, holder: holderOf(podUid, process) };
  },
};

/** For any VMI: the folder's name says which. States other than those of a handover do not belong in files. */
function decodeHandover(text: string): ReadGrant {
  const { vmiUID } = Object(JSON.parse(text)) as { vmiUID?: unknown };
  const grant = decodeGrant(text, typeof vmiUID === "string" ? vmiUID : "");
  if (grant.state === "Invalid") return grant;
  if (!("target" in grant))
    return invalid(`its state is ${grant.state}, which only an API server stores`);
  const isHere = namedBy(grant).every((holder) => isProcessIdentity(processOf(holder)));
  return isHere ? grant : invalid("it names a holder that is not a process of this host");
}

/** Nobody has claimed on this host. */
export const unclaimed: ReadGrant = freeGrant;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function invalid(problem: string): ReadGrant {
  return { state: "Invalid", problem };
}
