import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createDurably, writeDurably } from "@virtkit/host-primitives/durable";
import type { AuthorityStore, StoredAuthorities } from "./authority-store.ts";
import { PkiError } from "./pki-error.ts";

const fileName = /^authorities\.(\d{1,9})\.json$/;
/** Each look finds what another process has written since the last one: this many in a row do not happen. */
const maxLooks = 100;

/**
 * Keeps authorities in a directory that belongs to this user alone, one file per revision. A revision is
 * created under an unused name, so of two writers one wins. Files of old revisions are emptied and stay: their
 * keys are gone, but late writers cannot reuse their names.
 */
export class FileAuthorityStore implements AuthorityStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(): Promise<StoredAuthorities | undefined> {
    for (let look = 0; look < maxLooks; look++) {
      const newest = this.#revisions()[0];
      if (newest === undefined) return undefined;
      const content = readFileSync(this.#file(newest), "utf8");
      // Empty: a newer one exists by now.
      if (content !== "") return { content, revision: String(newest) };
    }
    const message = `${this.#directory} has only empty revisions; remove its files to start again`;
    throw new PkiError("PKI_STORE_INVALID", message, { path: this.#directory });
  }

  async swap(content: string, revision: string | undefined): Promise<boolean> {
    const next = Number(revision ?? 0) + 1;
    if (!createDurably(this.#file(next), content)) return false;
    for (const old of this.#revisions()) {
      if (old < next) writeDurably(this.#file(old), "");
    }
    return true;
  }

  /** The newest first. */
  #revisions(): number[] {
    const names = namesIn(this.#directory);
    const numbers = names.flatMap((name) => Number(fileName.exec(name)?.[1] ?? []));
    return numbers.sort((one, other) => other - one);
  }

  #file(revision: number): string {
    return path.join(this.#directory, `authorities.${revision}.json`);
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
