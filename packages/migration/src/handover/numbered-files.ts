import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "@virtkit/api/shape";
import { createDurably, type FileCalls } from "@virtkit/host-primitives/durable";
import { MigrationError } from "../migration-error.ts";

const version = 1;

/**
 * A few records in a folder: `NAME.1.json`, `NAME.2.json`. Each is created complete and synced by one writer, and
 * is never changed. The last one counts.
 */
export class NumberedFiles {
  readonly #directory: string;
  readonly #name: string;
  readonly #files: FileCalls | undefined;

  constructor(directory: string, name: string, files?: FileCalls) {
    this.#directory = directory;
    this.#name = name;
    this.#files = files;
  }

  /** All records, in order. Throws if one exists but cannot be read: that is not the same as no record. */
  read(): readonly JsonObject[] {
    const records: JsonObject[] = [];
    for (;;) {
      const path = this.#path(records.length + 1);
      const text = this.#text(path);
      if (text === undefined) return records;
      records.push(parse(text, path));
    }
  }

  /** Adds a record with this number; false if another writer was first. */
  add(number: number, record: object): boolean {
    const text = `${JSON.stringify({ version, ...record })}\n`;
    return createDurably(this.#path(number), text, this.#files);
  }

  #path(number: number): string {
    return join(this.#directory, `${this.#name}.${number}.json`);
  }

  #text(path: string): string | undefined {
    try {
      return this.#files?.read(path) ?? readFileSync(path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw unreadable(path, "it cannot be opened", error);
    }
  }
}

function parse(text: string, path: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(path, "it is not JSON", error);
  }
  if (isObject(value) && value["version"] === version) return value;
  throw unreadable(path, "its version is unknown to this release");
}

/** A record that cannot be understood. Nobody may act as if it did not exist. */
export function unreadable(path: string, problem: string, cause?: unknown): MigrationError {
  const message = `${path}: ${problem}; find out which node runs the guest before you remove the file`;
  return new MigrationError("MIGRATION_DECISION_INVALID", message, { path, cause });
}
