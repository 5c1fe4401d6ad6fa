import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Grant, ReadGrant } from "@virtkit/api/grant";
import type { GrantStore, StoredGrant } from "@virtkit/domain-manager";
import { createDurably, removeDurably } from "@virtkit/host-primitives/durable";

/** How a grant is stored. */
export interface GrantCodec {
  encode(grant: Grant): string;
  /** Never throws: what it does not understand is `Invalid`. */
  decode(text: string): ReadGrant;
}

/** A grant, and the number of its file; 0 if there is none yet. */
export type FiledGrant = StoredGrant<number>;

const grantFile = /^(\d{1,15})\.json$/;

/**
 * A grant in its own folder. Each value is a file with an increasing number, created complete (written, synced,
 * then linked) and never changed; the highest number counts. A swap links the next number, which only one writer
 * can do, and checks again: what it replaces must still be there, and nothing beyond it. An empty folder means what
 * `empty` says.
 */
export class FileGrantStore implements GrantStore<number> {
  readonly #directory: string;
  readonly #codec: GrantCodec;
  readonly #empty: ReadGrant;

  constructor(
    directory: string,
    { codec, empty }: { readonly codec: GrantCodec; readonly empty: ReadGrant },
  ) {
    this.#directory = directory;
    this.#codec = codec;
    this.#empty = empty;
  }

  async read(): Promise<FiledGrant> {
    return this.all().at(-1) ?? { grant: this.#empty, version: 0 };
  }

  async swap({ version }: FiledGrant, next: Grant): Promise<boolean> {
    const number = version + 1;
    if (!createDurably(this.path(number), this.#codec.encode(next))) return false;
    const numbers = this.#numbers();
    const isNext = version === 0 ? numbers.length === 1 : numbers.includes(version);
    if (!isNext || numbers.at(-1) !== number) {
      this.remove([number]);
      return false;
    }
    this.remove(numbers.filter((each) => each < number));
    return true;
  }

  /** All values on disk, with the one that counts last. The others are being removed, or a crash left them. */
  all(): readonly FiledGrant[] {
    return this.#numbers().flatMap((version) => {
      const text = readText(this.path(version));
      return text === undefined ? [] : [{ grant: this.#codec.decode(text), version }];
    });
  }

  /** The file of a number. */
  path(number: number): string {
    return join(this.#directory, `${number}.json`);
  }

  /** Removes files, and the folder with the last one. */
  remove(numbers: readonly number[]): void {
    for (const number of numbers) {
      removeDurably(this.path(number));
    }
  }

  /** Removes the folder if nothing is left in it. */
  removeEmpty(): void {
    try {
      rmdirSync(this.#directory);
    } catch (error) {
      if (!isError(error, "ENOENT", "ENOTEMPTY")) throw error;
    }
  }

  #numbers(): readonly number[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory)
      .flatMap((name) => grantFile.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isError(error, "ENOENT")) return undefined;
    throw error;
  }
}

function isError(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
