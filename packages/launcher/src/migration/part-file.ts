import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Holder } from "@virtkit/api/grant";
import { writeDurably } from "@virtkit/host-primitives/durable";
import type { MigrationIdentity } from "@virtkit/migration/handover";
import { LauncherError } from "../launcher-error.ts";
import type { MigrationReport } from "./migration-verbs.ts";

/** What a launcher needs, besides the decision, to go on with its part of a migration after a restart. */
export interface PartRecord {
  readonly role: "source" | "target";
  readonly migration: MigrationIdentity;
  /** The incarnation of this launcher that the handover names. */
  readonly holder: Holder;
  /** UUID of the domain. */
  readonly domain: string;
  /** Socket of the other side's launcher, and the one on which it is answered. */
  readonly peer: string;
  readonly serve: string;
  /** Where a target's QEMU listens, and whether it must receive encrypted data. */
  readonly listen?: string | undefined;
  readonly encrypted?: boolean | undefined;
}

/** A record that was found on disk, with the report of its end if there was one. */
export interface FoundPart {
  readonly record: PartRecord;
  readonly report?: MigrationReport;
}

const version = 1;
const [recordName, reportName] = ["part.json", "settled.json"];

/** The parts of a launcher in its migrations, each in the folder of its decision. The directory is trusted. */
export class PartFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Before anything begins. A second attempt of the same migration replaces what the first one noted. */
  begin(record: PartRecord): void {
    this.#write(record.migration.migrationUID, recordName, record);
  }

  /** Before anybody learns that this part is over. */
  settle({ progress: _, ...report }: MigrationReport): void {
    this.#write(report.migrationUID, reportName, report);
  }

  /**
   * The last part that has begun according to `hasBegun`. There is at most one that is not over: the next one is refused
   * until then.
   *
   * @throws LauncherError if a record cannot be understood: nobody may act as if it did not exist.
   */
  last(hasBegun: (record: PartRecord) => boolean): FoundPart | undefined {
    const records = this.#folders()
      .map((folder) => this.#read(folder, recordName) as PartRecord | undefined)
      .filter((record) => record !== undefined)
      // Every change of a VMI's grant raises this number.
      .sort((a, b) => b.migration.seq - a.migration.seq);
    const record = records.find(hasBegun);
    if (!record) return undefined;
    const report = this.#read(record.migration.migrationUID, reportName);
    return { record, ...(report ? { report: report as MigrationReport } : {}) };
  }

  /** Whether there is any record; most launchers never have one. */
  get isEmpty(): boolean {
    return this.#folders().every((folder) => this.#text(folder, recordName) === undefined);
  }

  #folders(): readonly string[] {
    try {
      return readdirSync(this.#directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw unreadable(this.#directory, error);
    }
  }

  #write(folder: string, name: string, value: object): void {
    const text = `${JSON.stringify({ version, ...value })}\n`;
    writeDurably(join(this.#directory, folder, name), text);
  }

  #text(folder: string, name: string): string | undefined {
    const path = join(this.#directory, folder, name);
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw unreadable(path, error);
    }
  }

  #read(folder: string, name: string): unknown {
    const text = this.#text(folder, name);
    if (text === undefined) return undefined;
    try {
      const { version: found, ...value } = JSON.parse(text) as { readonly version?: unknown };
      if (found === version) return value;
    } catch (error) {
      throw unreadable(join(this.#directory, folder, name), error);
    }
    throw unreadable(join(this.#directory, folder, name), "its version is unknown to this release");
  }
}

function unreadable(path: string, cause: unknown): LauncherError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const text = `${path} cannot be read: ${why}; find out which node runs the guest before you remove it`;
  return new LauncherError("LAUNCHER_FAILED", text, { path, cause });
}
