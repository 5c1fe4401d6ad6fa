import { readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { createDurably, removeDurably } from "@virtkit/host-primitives/durable";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { isProcessIdentity, type ProcessIdentity } from "@virtkit/node-agent/sandbox";

/** A guest that moves from one sandbox of this host to another. */
export interface VmiMove {
  readonly migrationUID: string;
  /** Pods that the guest leaves and that it moves into. */
  readonly source: string;
  readonly target: string;
  /** The process that handles it. When that has ended, the next one takes over. */
  readonly mover: ProcessIdentity;
  readonly startedAt: string;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

const version = 1;
const uid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const fileName = /^(\d{1,9})\.json$/;

/**
 * The move of a VMI, on disk from before the first part of its target is created until the last
 * part of the Pod without the guest is gone. One numbered file per mover: only one process can
 * write the next.
 */
export class MoveFile {
  readonly #folder: string;
  readonly #name: string;

  constructor(stateDirectory: string, { namespace, name }: Named) {
    this.#folder = join(stateDirectory, "moves", `${namespace}_${name}`);
    this.#name = name;
  }

  /** The move in progress; undefined if there is none. Throws if it cannot be read. */
  read(): VmiMove | undefined {
    const number = this.#numbers().at(-1);
    return number === undefined ? undefined : this.#parse(number);
  }

  /** Begins a move; false if one is in progress. */
  begin(move: VmiMove): boolean {
    return this.#numbers().length === 0 && this.#write(1, move);
  }

  /** Makes another process the mover; false if someone else was faster. */
  takeOver(move: VmiMove, mover: ProcessIdentity): VmiMove | undefined {
    const number = this.#numbers().at(-1);
    if (number === undefined || !isSame(this.#parse(number), move)) return undefined;
    const taken = { ...move, mover };
    return this.#write(number + 1, taken) ? taken : undefined;
  }

  /** The move is over. Can be repeated. */
  remove(): void {
    // The newest last: until then one is under way.
    for (const number of this.#numbers()) removeDurably(this.#path(number));
    try {
      rmdirSync(this.#folder);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!["ENOENT", "ENOTEMPTY"].includes(code)) throw error;
    }
  }

  #write(number: number, move: VmiMove): boolean {
    return createDurably(this.#path(number), JSON.stringify({ version, ...move }));
  }

  #path(number: number): string {
    return join(this.#folder, `${number}.json`);
  }

  #numbers(): readonly number[] {
    try {
      return readdirSync(this.#folder)
        .flatMap((name) => fileName.exec(name)?.[1] ?? [])
        .map(Number)
        .sort((a, b) => a - b);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }

  #parse(number: number): VmiMove {
    const path = this.#path(number);
    const move = this.#json(path);
    const uids = [move.migrationUID, move.source, move.target];
    const isWhole =
      move.version === version &&
      uids.every((each) => typeof each === "string" && uid.test(each)) &&
      typeof move.startedAt === "string" &&
      isProcessIdentity(move.mover);
    if (!isWhole) throw this.#unreadable(path, "a field is missing or wrong");
    const { version: _, ...whole } = move;
    return whole;
  }

  #json(path: string): VmiMove & { readonly version?: number } {
    try {
      return Object(JSON.parse(readFileSync(path, "utf8")));
    } catch (error) {
      throw this.#unreadable(path, error instanceof Error ? error.message : String(error));
    }
  }

  #unreadable(path: string, problem: string): NodeAgentError {
    const message = `the move of ${this.#name} cannot be read from ${path}: ${problem}; its guest may run in either Pod: virtkit rm --now ${this.#name} ends both`;
    return new NodeAgentError("AGENT_JOURNAL", message, { path });
  }
}

function isSame(a: VmiMove, b: VmiMove): boolean {
  return (
    a.migrationUID === b.migrationUID &&
    a.mover.pid === b.mover.pid &&
    a.mover.startTime === b.mover.startTime &&
    a.mover.bootId === b.mover.bootId
  );
}
