import { readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MayRun } from "@virtkit/domain-manager";
import { createDurably, removeDurably } from "@virtkit/host-primitives/durable";
import type { ProcessHandle } from "@virtkit/host-primitives/process";
import { NodeAgentError } from "../node-agent-error.ts";
import {
  hasEnded,
  hasExited,
  identityOf,
  isProcessIdentity,
  type ProcessIdentity,
} from "../sandbox/process-identity.ts";

/** The VMI that a claim is about. A new VMI of the same name has to wait for the old one's end. */
export interface ClaimedVmi {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Who may run a guest, on disk. */
export interface RunClaim {
  readonly vmiUid: string;
  readonly podUid: string;
  /** Grows with every claim of the same VMI. */
  readonly epoch: number;
  /** First process of the sandbox: while it runs the guest may. */
  readonly process: ProcessIdentity;
}

/** The claims of one VMI, as {@link RunClaims.all} finds them. */
export interface ListedClaims {
  readonly namespace: string;
  readonly name: string;
  readonly directory: string;
  readonly claims: readonly RunClaim[];
  /** Why they could not be read. */
  readonly problem?: string;
}

/** Who asks for the right to run a guest. */
export interface Claimant {
  readonly podUid: string;
  readonly process: ProcessHandle;
}

const version = 1;
const mostAttempts = 50;

/** Whose claims are forgotten. */
export interface ForgottenClaims {
  readonly namespace: string;
  readonly name: string;
  readonly podUid?: string;
}

/**
 * The right to run a guest on this machine, given to one sandbox at a time: what the run grant of the
 * API server is where there is one. A claim ends by proof alone: its process has ended, or the machine
 * has booted since. Nobody gives it back, and nobody takes it away because he does not see its holder.
 *
 * A claim is a file, named by its epoch, that comes into being whole (written, synced, then linked) and
 * is never changed. Whoever links the next epoch looks again and holds it only if every other claim's
 * holder is proven to have ended: of two who claim at once the later one always sees the earlier one.
 */
export class RunClaims {
  readonly #directory: string;

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, "claims");
  }

  /**
   * Claims the right to run a guest. The holder gets its claim again.
   *
   * @throws NodeAgentError `AGENT_CLAIM_HELD` where another holder is not proven to have ended,
   *   `AGENT_SANDBOX_GONE` where the claimant's own process has ended, `AGENT_CLAIM_INVALID` where a
   *   claim cannot be read: what is not understood is not free.
   */
  async claim(vmi: ClaimedVmi, { podUid, process }: Claimant): Promise<MayRun> {
    const directory = this.#directoryOf(vmi);
    if (hasExited(process)) {
      const message = `process ${process.pid} of Pod ${podUid} has ended; start its sandbox anew`;
      throw new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: "process" });
    }
    const wish = { vmiUid: vmi.uid, podUid, process: identityOf(process) };
    // Checks the UIDs before anything is on disk.
    MayRun.claimed({ vmiUid: vmi.uid, podUid, epoch: 1 });
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const epoch = tryClaim(directory, vmi, wish);
      if (epoch !== undefined) return MayRun.claimed({ vmiUid: vmi.uid, podUid, epoch });
      await sleep(1 + Math.random() * 20);
    }
    const message = `${nameOf(vmi)} is being claimed by many at once; try again`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: directory });
  }

  /** The claim that is in force; undefined where there is none. Its holder may have ended. */
  holder(vmi: Pick<ClaimedVmi, "namespace" | "name">): RunClaim | undefined {
    return readClaims(this.#directoryOf(vmi)).at(-1);
  }

  /** Every claim on disk, whoever's it is. What cannot be read is told with its file, and hides nothing else. */
  all(): readonly ListedClaims[] {
    return namesIn(this.#directory).flatMap((entry): ListedClaims[] => {
      const [namespace = "", name, ...more] = entry.split("_");
      if (name === undefined || more.length > 0) return [];
      const directory = join(this.#directory, entry);
      try {
        return [{ namespace, name, directory, claims: readClaims(directory) }];
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        return [{ namespace, name, directory, claims: [], problem }];
      }
    });
  }

  /**
   * Forgets the claims of a VMI that is no more, or only those of one of its Pods. Throws `AGENT_CLAIM_HELD`
   * while a holder may run.
   */
  forget({ podUid, ...vmi }: ForgottenClaims): void {
    const directory = this.#directoryOf(vmi);
    const claims = readClaims(directory).filter(
      (claim) => podUid === undefined || claim.podUid === podUid,
    );
    const holder = claims.find(({ process }) => !hasEnded(process));
    if (holder) throw held(vmi, holder);
    for (const { epoch } of claims) removeDurably(join(directory, fileOf(epoch)));
    try {
      rmdirSync(directory);
    } catch (error) {
      if (!isError(error, "ENOENT", "ENOTEMPTY")) throw error;
    }
  }

  #directoryOf({ namespace, name }: Pick<ClaimedVmi, "namespace" | "name">): string {
    for (const [field, part] of Object.entries({ namespace, name })) {
      if (typeof part === "string" && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(part)) continue;
      const shown = JSON.stringify(part)?.slice(0, 100);
      const message = `metadata.${field} is ${shown}; use lower case letters, digits, "-" and "."`;
      throw new NodeAgentError("AGENT_ARGUMENT", message, { path: `metadata.${field}` });
    }
    // Neither part can hold an underscore.
    return join(this.#directory, `${namespace}_${name}`);
  }
}

/** One attempt: the epoch, or undefined where somebody else was at it meanwhile. */
function tryClaim(
  directory: string,
  vmi: ClaimedVmi,
  wish: Omit<RunClaim, "epoch">,
): number | undefined {
  const before = readClaims(directory);
  const mine = before.find((claim) => isSameHolder(claim, wish));
  assertOthersEnded(vmi, before, mine);
  if (mine) return mine.epoch;
  const epoch = (before.at(-1)?.epoch ?? 0) + 1;
  const file = join(directory, fileOf(epoch));
  if (!createDurably(file, JSON.stringify({ version, ...wish, epoch }))) return undefined;
  try {
    // Read and proven anew: a file of the same name may be another claim by now.
    const others = readClaims(directory).filter((claim) => claim.epoch !== epoch);
    if (others.some(({ process }) => !hasEnded(process))) {
      removeDurably(file);
      return undefined;
    }
    for (const other of others) removeDurably(join(directory, fileOf(other.epoch)));
  } catch (error) {
    removeDurably(file);
    throw error;
  }
  return epoch;
}

function isSameHolder(claim: RunClaim, wish: Omit<RunClaim, "epoch">): boolean {
  const { pid, startTime, bootId } = wish.process;
  return (
    claim.vmiUid === wish.vmiUid &&
    claim.podUid === wish.podUid &&
    claim.process.pid === pid &&
    claim.process.startTime === startTime &&
    claim.process.bootId === bootId
  );
}

function assertOthersEnded(
  vmi: ClaimedVmi,
  claims: readonly RunClaim[],
  mine: RunClaim | undefined,
): void {
  const holder = claims.find((claim) => claim !== mine && !hasEnded(claim.process));
  if (holder) throw held(vmi, holder);
}

const claimFile = /^(\d{1,15})\.json$/;

function fileOf(epoch: number): string {
  return `${epoch}.json`;
}

/** All claims, by epoch. Those that are removed meanwhile are left out. */
function readClaims(directory: string): readonly RunClaim[] {
  const epochs = namesIn(directory)
    .flatMap((name) => claimFile.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  return epochs.flatMap((epoch) => {
    const claim = readClaim(join(directory, fileOf(epoch)), epoch);
    return claim ? [claim] : [];
  });
}

function readClaim(file: string, epoch: number): RunClaim | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (isError(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    return parseClaim(text, epoch);
  } catch (cause) {
    const message = `${file} is no claim that this release knows; make sure that the guest does not run, then remove the file`;
    throw new NodeAgentError("AGENT_CLAIM_INVALID", message, { path: file, cause });
  }
}

function parseClaim(text: string, epoch: number): RunClaim {
  const { version: found, ...claim } = Object(JSON.parse(text)) as Partial<RunClaim> & {
    version?: unknown;
  };
  const { vmiUid, podUid, process } = claim;
  const valid = found === version && claim.epoch === epoch && isProcessIdentity(process);
  if (!valid || typeof vmiUid !== "string" || typeof podUid !== "string") {
    throw new Error("not of this version, or with a field missing");
  }
  return { vmiUid, podUid, epoch, process };
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isError(error, "ENOENT")) return [];
    throw error;
  }
}

function isError(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? "");
}

function nameOf({ namespace, name }: Pick<ClaimedVmi, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

function held(
  vmi: Pick<ClaimedVmi, "namespace" | "name">,
  { podUid, process, epoch }: RunClaim,
): NodeAgentError {
  const message = `${nameOf(vmi)} may still run: process ${process.pid} of Pod ${podUid} holds claim ${epoch}; stop that machine and wait until the process has ended`;
  return new NodeAgentError("AGENT_CLAIM_HELD", message, { path: nameOf(vmi) });
}
