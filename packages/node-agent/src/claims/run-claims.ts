import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  decide,
  type Grant,
  type Holder,
  isSameHolder,
  type ReadGrant,
  type Verdict,
} from "@virtkit/api/grant";
import { type GrantStore, isDomainManagerError, MayRun } from "@virtkit/domain-manager";
import type { ProcessHandle } from "@virtkit/host-primitives/process";
import { NodeAgentError } from "../node-agent-error.ts";
import { hasExited, identityOf } from "../sandbox/process-identity.ts";
import {
  claimCodec,
  claimOf,
  holderOf,
  namedBy,
  proofsOf,
  type RunClaim,
  unclaimed,
} from "./claim-file.ts";
import { type FiledGrant, FileGrantStore } from "./file-grant-store.ts";

/** The VMI that a claim is about. A new VMI with the same name must wait for the end of the old one. */
export interface ClaimedVmi {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A claim and its file. There are two for a handover, which names two holders. */
export interface ListedClaim extends RunClaim {
  readonly file: string;
}

/** The claims of one VMI, as {@link RunClaims.all} finds them. */
export interface ListedClaims {
  readonly namespace: string;
  readonly name: string;
  readonly directory: string;
  readonly claims: readonly ListedClaim[];
  /** Why they could not be read. */
  readonly problem?: string;
}

/** Who asks for a guest's run grant. */
export interface Claimant {
  readonly podUid: string;
  readonly process: ProcessHandle;
}

/** Whose claims are forgotten. */
export interface ForgottenClaims {
  readonly namespace: string;
  readonly name: string;
  readonly podUid?: string;
}

/**
 * The right to run a guest on this host, held by one sandbox at a time: the run grant without an API server,
 * decided by the same rules and kept in files. A claim ends only by proof: its process has ended, or the host has
 * rebooted since. It is never given back, and never taken away because its holder cannot be seen.
 */
export class RunClaims {
  readonly #directory: string;

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, "claims");
  }

  /**
   * Claims the run grant of a guest. The holder gets its claim again.
   *
   * @throws NodeAgentError `AGENT_CLAIM_HELD` if another holder is not proven to have ended,
   *   `AGENT_SANDBOX_GONE` if the claimant's own process has ended, `AGENT_CLAIM_INVALID` if a
   *   claim cannot be read: an unreadable claim is not free.
   */
  async claim(vmi: ClaimedVmi, { podUid, process }: Claimant): Promise<MayRun> {
    const store = this.#storeOf(vmi);
    if (hasExited(process)) {
      const message = `process ${process.pid} of Pod ${podUid} has ended; start a new sandbox`;
      throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: "process" });
    }
    // Checks the UIDs before anything is on disk.
    MayRun.fromAgent({ vmiUid: vmi.uid, podUid, epoch: 1 });
    const holder = holderOf(podUid, identityOf(process));
    const grantFirst = (grant: ReadGrant): Verdict => grantTo(vmi, podUid, grant);
    try {
      const mayRun = await MayRun.claim(store, { holder, grantFirst });
      // The rules look at the newest claim; a crash may have left an older one, which counts, too.
      assertOthersEnded(vmi, store, holder);
      if (mayRun.grant.vmiUid === vmi.uid) return mayRun;
    } catch (error) {
      if (!isDomainManagerError(error) || error.code !== "DOMAIN_NOT_GRANTED") throw error;
      const message = `${nameOf(vmi)} cannot be claimed: ${error.message}`;
      throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: nameOf(vmi), cause: error });
    }
    const message = `${nameOf(vmi)} is held by this sandbox for an earlier VMI; start a new sandbox`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: nameOf(vmi) });
  }

  /**
   * The claim in force (during a handover, the source's); undefined if there is none. Its holder may have ended.
   */
  holder(vmi: Pick<ClaimedVmi, "namespace" | "name">): RunClaim | undefined {
    return readClaims(this.#storeOf(vmi)).findLast(({ isTarget }) => !isTarget)?.claim;
  }

  /** The store of a guest's run grant, for handing it over. */
  store(vmi: Pick<ClaimedVmi, "namespace" | "name">): GrantStore {
    return this.#storeOf(vmi);
  }

  /** A sandbox of this host as the grant names it. */
  static holderOf({ podUid, process }: Claimant): Holder {
    return holderOf(podUid, identityOf(process));
  }

  /** The current run grant, for `describeGrant`: free if nobody has claimed, invalid if it is unreadable. */
  grant(vmi: Pick<ClaimedVmi, "namespace" | "name">): ReadGrant {
    return this.#storeOf(vmi).all().at(-1)?.grant ?? unclaimed;
  }

  /**
   * Every claim on disk, regardless of its holder. An unreadable claim is reported with its file, and
   * does not hide the others.
   */
  all(): readonly ListedClaims[] {
    return namesIn(this.#directory).flatMap((entry): ListedClaims[] => {
      const [namespace = "", name, ...more] = entry.split("_");
      if (name === undefined || more.length > 0) return [];
      const directory = join(this.#directory, entry);
      try {
        const store = storeIn(directory);
        const claims = readClaims(store).map(({ claim, version }) => ({
          ...claim,
          file: store.path(version),
        }));
        return [{ namespace, name, directory, claims }];
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        return [{ namespace, name, directory, claims: [], problem }];
      }
    });
  }

  /**
   * Forgets the claims of a VMI that no longer exists, or only those of one of its Pods. Throws `AGENT_CLAIM_HELD`
   * while a holder may run.
   */
  forget({ podUid, ...vmi }: ForgottenClaims): void {
    const store = this.#storeOf(vmi);
    const all = readClaims(store);
    const ofPod = all.filter(({ claim }) => podUid === undefined || claim.podUid === podUid);
    const versions = new Set(ofPod.map(({ version }) => version));
    // A handover goes as a whole: its other side must have ended, too.
    const claims = all.filter(({ version }) => versions.has(version));
    const running = claims.find(({ isEnded }) => !isEnded());
    if (running) throw held(vmi, running.claim);
    store.remove([...versions]);
    store.removeEmpty();
  }

  #storeOf(vmi: Pick<ClaimedVmi, "namespace" | "name">): FileGrantStore {
    return storeIn(this.#directoryOf(vmi));
  }

  #directoryOf({ namespace, name }: Pick<ClaimedVmi, "namespace" | "name">): string {
    for (const [field, part] of Object.entries({ namespace, name })) {
      if (typeof part === "string" && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(part)) continue;
      const shown = JSON.stringify(part)?.slice(0, 100);
      const message = `metadata.${field} is ${shown}; use lower case letters, digits, "-" and "."`;
      throw new NodeAgentError("AGENT_ARGUMENT", message, { path: `metadata.${field}` });
    }
    // Neither part can contain an underscore.
    return join(this.#directory, `${namespace}_${name}`);
  }
}

function storeIn(directory: string): FileGrantStore {
  return new FileGrantStore(directory, { codec: claimCodec, empty: unclaimed });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Grants a guest to a Pod of this host, as a controller would do. */
function grantTo(vmi: ClaimedVmi, podUID: string, grant: ReadGrant): Verdict {
  if (grant.state === "Invalid") throw unreadable(vmi, grant.problem);
  const proofs = namedBy(grant).flatMap(proofsOf);
  const earlier = { remembered: [], listed: [], live: true };
  const request = {
    kind: "grant",
    vmiUID: vmi.uid,
    podUID,
    proofs,
    remembered: true,
    earlier,
  } as const;
  const verdict = decide(grant, request);
  if ("refused" in verdict && "holder" in grant) throw held(vmi, claimOf(grant, stillThere(grant)));
  return verdict;
}

/** Those named by a grant that may still run. */
function stillThere(grant: Extract<Grant, { holder: Holder }>): Holder {
  return namedBy(grant).find((holder) => proofsOf(holder).length === 0) ?? grant.holder;
}

interface ReadClaim {
  readonly version: number;
  readonly holder: Holder;
  readonly claim: RunClaim;
  readonly isTarget: boolean;
  readonly isEnded: () => boolean;
}

/** All claims on disk, the newest last; both sides of a handover. */
function readClaims(store: FileGrantStore): readonly ReadClaim[] {
  return store.all().flatMap((filed) => readClaim(store, filed));
}

function readClaim(store: FileGrantStore, { grant, version }: FiledGrant): readonly ReadClaim[] {
  if (!("holder" in grant)) {
    throw unreadable(store.path(version), grant.state === "Invalid" ? grant.problem : grant.state);
  }
  return namedBy(grant).map((holder) => ({
    version,
    holder,
    claim: claimOf(grant, holder),
    isTarget: holder !== grant.holder,
    isEnded: () => proofsOf(holder).length > 0,
  }));
}

function assertOthersEnded(vmi: ClaimedVmi, store: FileGrantStore, claimant: Holder): void {
  const running = readClaims(store).find(
    ({ holder, isEnded }) => !isSameHolder(holder, claimant) && !isEnded(),
  );
  if (running) throw held(vmi, running.claim);
}

function unreadable(where: ClaimedVmi | string, problem: string): NodeAgentError {
  const path = typeof where === "string" ? where : nameOf(where);
  const message = `the claim of ${path} cannot be read: ${problem}; make sure that the guest does not run, then remove the file`;
  return new NodeAgentError("AGENT_CLAIM_INVALID", message, { path });
}

function nameOf({ namespace, name }: Pick<ClaimedVmi, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

function held(
  vmi: Pick<ClaimedVmi, "namespace" | "name">,
  { podUid, process, epoch }: RunClaim,
): NodeAgentError {
  const message = `${nameOf(vmi)} may still run: process ${process.pid} of Pod ${podUid} holds claim ${epoch}; stop that VMI and wait until the process has ended`;
  return new NodeAgentError("AGENT_CLAIM_HELD", message, { path: nameOf(vmi) });
}
