import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "@virtkit/host-primitives/durable";
import { NodeAgentError } from "../node-agent-error.ts";

/**
 * The highest version of the API server's store that this node has acted on. A lower one means that the store was
 * restored to an earlier state: what it says about run grants may be long outdated.
 */
export class VersionMark {
  readonly #file: string;
  #highest: bigint;

  constructor(stateDirectory: string) {
    this.#file = join(stateDirectory, "highest-version");
    this.#highest = readMark(this.#file);
  }

  /**
   * Throws `AGENT_CLAIM_HELD` for a version older than the mark. A version that is not a number is not compared.
   */
  check(version: string): void {
    const found = numberOf(version);
    if (found === undefined || found >= this.#highest) return;
    const message = `the API server is at version ${version}, but this node has seen ${this.#highest}: it was restored from a backup; make sure that no guest of this node runs elsewhere, then remove ${this.#file}`;
    throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: this.#file });
  }

  /** Whether a version is above the mark, which {@link note} then writes. */
  isNew(version: string): boolean {
    return (numberOf(version) ?? 0n) > this.#highest;
  }

  /** On disk when it returns. */
  note(version: string): void {
    const found = numberOf(version);
    if (found === undefined || found <= this.#highest) return;
    writeDurably(this.#file, String(found));
    this.#highest = found;
  }
}

function numberOf(version: string): bigint | undefined {
  return /^\d{1,30}$/.test(version) ? BigInt(version) : undefined;
}

function readMark(file: string): bigint {
  try {
    return numberOf(readFileSync(file, "utf8").trim()) ?? 0n;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0n;
    throw error;
  }
}
