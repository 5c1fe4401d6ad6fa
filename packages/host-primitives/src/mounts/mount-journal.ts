import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { HostError } from "../host-error.ts";

/** How far a mount has come. `mounting` and `unmounting` are written before the kernel is asked. */
export type MountState = "mounting" | "mounted" | "unmounting";

/** What the journal knows about one mount. */
export interface MountRecord {
  /** Whose mount it is; unique in the journal. A Pod UID or migration UID is part of a good one. */
  readonly id: string;
  readonly state: MountState;
  /** Whatever the agent needs to find target and source again. Plain data. */
  readonly details: unknown;
}

/**
 * What a restarted agent does with a record that its predecessor left.
 *
 * - `confirm`: the mount is there; note that, nothing else.
 * - `retry`: it was begun and is not there; mount it if it is still wanted, else forget it.
 * - `unmount`: it was to go and is still there.
 * - `forget`: it was to go and is gone, or was there and vanished (a reboot).
 */
export interface RecoveryStep {
  readonly action: "confirm" | "retry" | "unmount" | "forget";
  readonly record: MountRecord;
}

/** Decides what to do with each record, given which mounts are really there. Pure. */
export function planRecovery(
  records: readonly MountRecord[],
  isMounted: (record: MountRecord) => boolean,
): RecoveryStep[] {
  return records.map((record) => ({ action: recoveryOf(record.state, isMounted(record)), record }));
}

function recoveryOf(state: MountState, there: boolean): RecoveryStep["action"] {
  switch (state) {
    case "mounting":
      return there ? "confirm" : "retry";
    case "mounted":
      return there ? "confirm" : "forget";
    case "unmounting":
      return there ? "unmount" : "forget";
  }
}

const version = 1;
const fileName = "mounts.journal";

type Line =
  | {
      readonly v: number;
      readonly id: string;
      readonly state: MountState;
      readonly details?: unknown;
    }
  | { readonly v: number; readonly id: string; readonly state: "gone" };

/**
 * A write-ahead journal of mounts: each step is on disk before the kernel is asked for it, so that a
 * restarted agent knows of every mount that its predecessor made or was about to make.
 *
 * One line of JSON per step, appended and synced. A last line that was cut short by a crash is
 * dropped, since its step was never begun; any other damage throws `HOST_JOURNAL_CORRUPT`, because
 * forgetting a mount silently would leak it. The directory belongs to the agent and is trusted.
 */
export class MountJournal implements Disposable {
  readonly #directory: string;
  readonly #records = new Map<string, MountRecord>();
  #fd: number;
  #lines = 0;

  constructor(directory: string) {
    this.#directory = directory;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const path = join(directory, fileName);
      if (existsSync(path)) this.#load(readFileSync(path, "utf8"), path);
      this.#fd = this.#rewrite();
    } catch (error) {
      throw HostError.from(error, directory);
    }
  }

  /** Every mount that was begun and is not known to be gone. */
  records(): readonly MountRecord[] {
    return [...this.#records.values()];
  }

  /** Call before mounting. The same id again replaces the details. */
  beginMount(id: string, details: unknown): void {
    this.#append({ v: version, id, state: "mounting", details });
  }

  /** Call after mounting. */
  finishMount(id: string): void {
    this.#append({ v: version, id, state: "mounted", details: this.#need(id).details });
  }

  /** Call before unmounting. */
  beginUnmount(id: string): void {
    this.#append({ v: version, id, state: "unmounting", details: this.#need(id).details });
  }

  /** Call after unmounting, or where a mount was given up that never came to be. Unknown ids are ignored. */
  forget(id: string): void {
    if (this.#records.has(id)) this.#append({ v: version, id, state: "gone" });
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #need(id: string): MountRecord {
    const record = this.#records.get(id);
    if (record) return record;
    const message = `there is no mount ${JSON.stringify(id)} in the journal; begin it first`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "id" });
  }

  #append(line: Line): void {
    if (this.#fd < 0) throw new HostError("HOST_CLOSED", "the mount journal is closed");
    try {
      writeWhole(this.#fd, `${JSON.stringify(line)}\n`);
      fsyncSync(this.#fd);
      this.#apply(line);
      if (++this.#lines > 64 + 4 * this.#records.size) {
        const old = this.#fd;
        this.#fd = this.#rewrite();
        closeSync(old);
      }
    } catch (error) {
      throw HostError.from(error, this.#directory);
    }
  }

  #apply(line: Line): void {
    if (line.state === "gone") this.#records.delete(line.id);
    else this.#records.set(line.id, { id: line.id, state: line.state, details: line.details });
  }

  #load(text: string, path: string): void {
    const lines = text.split("\n");
    // The last piece has no line feed: empty, or a step that was never begun.
    lines.pop();
    for (const [index, line] of lines.entries())
      this.#apply(parseLine(line, `${path}:${index + 1}`));
  }

  /** Writes only what is still true to a new file and puts it in place of the old one. */
  #rewrite(): number {
    const path = join(this.#directory, fileName);
    const temporary = `${path}.new`;
    const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants;
    const fd = openSync(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600);
    try {
      for (const record of this.#records.values()) {
        writeWhole(fd, `${JSON.stringify({ v: version, ...record })}\n`);
      }
      fsyncSync(fd);
      renameSync(temporary, path);
      syncDirectory(this.#directory);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    this.#lines = this.#records.size;
    return fd;
  }
}

function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const states: readonly unknown[] = ["mounting", "mounted", "unmounting", "gone"];

function parseLine(text: string, place: string): Line {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch (cause) {
    throw corrupt(place, "is not JSON", cause);
  }
  const { v, id, state } = Object(line) as Record<string, unknown>;
  if (v !== version) throw corrupt(place, `has version ${String(v)}; this agent knows ${version}`);
  if (typeof id !== "string" || !states.includes(state))
    throw corrupt(place, "is no step of a mount");
  return line as Line;
}

function corrupt(place: string, problem: string, cause?: unknown): HostError {
  const message = `${place} ${problem}; compare the journal with the node's mounts before removing it`;
  return new HostError("HOST_JOURNAL_CORRUPT", message, { path: place, cause });
}
