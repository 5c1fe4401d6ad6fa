import type { Names } from "../names/index.ts";
import { at, isObject, objects, text } from "../shape.ts";
import type { Holder } from "./grant.ts";
import { isHolder } from "./grant-annotation.ts";

/** The condition's name below the platform's own prefix: `names().own(runMemoryCondition)`. */
export const runMemoryCondition = "MayStillRun";

/** A Pod that a grant or a handover may name. */
export interface RememberedPod {
  readonly podUID: string;
  /**
   * The grant's number when the Pod was remembered: a later grant that does not name it needs no proof of its
   * end.
   */
  readonly seq: number;
  /** Absent until it is known to have claimed. */
  readonly holder?: Holder;
}

/** A VMI of the VM that is not proven to have ended. */
export interface RememberedRun {
  readonly vmiUID: string;
  /** Everything that may run; absent before the first claim was seen, when any Pod of the VMI may run. */
  readonly pods?: readonly RememberedPod[];
}

/** What a VM remembers about its VMIs. A value that cannot be read is never treated as empty. */
export type RunMemory = { readonly runs: readonly RememberedRun[] } | { readonly problem: string };

const version = 1;
/** A run with two holders needs about 1 KiB. */
const mostCharacters = 32_768;

/**
 * The maximum number of remembered runs. A VM with that many runs whose end cannot be proven needs a person.
 */
export const mostRuns = 16;

/** What the VM remembers, from its status. */
export function readMemory(vm: unknown, names: Pick<Names, "own">): RunMemory {
  const type = names.own(runMemoryCondition);
  const [condition] = objects(at(vm, "status", "conditions")).filter(
    (each) => each["type"] === type,
  );
  if (!condition) return { runs: [] };
  const value = text(condition["message"]);
  if (last?.value !== value) last = { value, memory: decode(value) };
  return last.memory;
}

/** What was decoded last: one pass over a VM asks for its memory again and again. */
let last: { readonly value: string; readonly memory: RunMemory } | undefined;

function decode(value: string): RunMemory {
  if (value.length > mostCharacters)
    return { problem: `it is longer than ${mostCharacters} characters` };
  let read: unknown;
  try {
    read = JSON.parse(value);
  } catch {
    return { problem: "it is not JSON" };
  }
  if (!isObject(read) || read["version"] !== version) {
    return { problem: `its version is not ${version}, the one that this release knows` };
  }
  const runs = read["runs"];
  if (!Array.isArray(runs) || !runs.every(isRun)) return { problem: "its runs cannot be read" };
  return { runs };
}

/** The condition's message. */
export function encodeMemory(runs: readonly RememberedRun[]): string {
  return JSON.stringify({ version, runs });
}

function isRun(value: unknown): value is RememberedRun {
  if (!isObject(value) || text(value["vmiUID"]) === "") return false;
  const pods = value["pods"];
  return pods === undefined || (Array.isArray(pods) && pods.every(isPod));
}

function isPod(value: unknown): value is RememberedPod {
  if (!isObject(value) || text(value["podUID"]) === "") return false;
  const { seq, holder } = value as { seq?: unknown; holder?: unknown };
  return Number.isSafeInteger(seq) && (holder === undefined || isHolder(holder));
}
