import { existsSync } from "node:fs";
import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  createDurably,
  removeDurably,
  writeDurably,
  writerOf,
} from "@virtkit/host-primitives/durable";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { identityOf, type ProcessIdentity } from "@virtkit/node-agent/sandbox";
import { MoveFile, type VmiMove } from "./move-file.ts";
import type { NetworkMode } from "./network-table.ts";
import type { PublishedPort } from "./published-port.ts";
import { readRecordFile, type UnreadableRecord, unreadable } from "./record-file.ts";
import { isWholeRecord } from "./record-shape.ts";

/** The record of a VMI of local mode, from before its first part is created until it is removed. */
export interface VmiRecord {
  readonly version: 1;
  readonly namespace: string;
  readonly name: string;
  readonly podUid: string;
  readonly createdAt: string;
  /** The admitted VMI. */
  readonly vmi: VirtualMachineInstance;
  readonly accel: "kvm" | "tcg";
  readonly published: readonly PublishedPort[];
  /** Absent in records from before there was a choice: `open` was all there was. */
  readonly network?: NetworkMode;
  /** The process that starts it: if it ends while the guest does not run, nobody will start it. */
  readonly starter: ProcessIdentity;
  /** The outcome of its last move. */
  readonly lastMove?: LastMove;
  /** The move in progress; kept in a separate file. */
  readonly move?: VmiMove;
}

/** How a move of a guest went. */
export interface LastMove {
  readonly at: string;
  readonly outcome: "moved" | "stayed";
  /** Why it stayed. */
  readonly why?: string;
  readonly milliseconds: number;
  /** How long the guest was paused, if known. */
  readonly downtimeMs?: number;
  /** Whether it ran at the target before all of its memory was there. */
  readonly isPostCopy?: boolean;
}

/** The Pods of a VMI: while its guest moves there are two. */
export function podsOf({ podUid, move }: Pick<VmiRecord, "podUid" | "move">): readonly string[] {
  return [...new Set(move ? [podUid, move.source, move.target] : [podUid])];
}

function folderOf(stateDirectory: string): string {
  return join(stateDirectory, "vmis");
}

function fileOf(stateDirectory: string, namespace: string, name: string): string {
  for (const part of [namespace, name]) {
    if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(part)) {
      const found = JSON.stringify(part).slice(0, 80);
      const message = `${found} cannot be the name of a VMI; use lower case letters, digits and -`;
      throw new NodeAgentError("AGENT_ARGUMENT", message, { path: "metadata.name" });
    }
  }
  return join(folderOf(stateDirectory), `${namespace}_${name}.json`);
}

/**
 * Writes the record of a new VMI. It exists completely or not at all, and is on disk.
 *
 * @returns false if the name is taken; then nothing changes.
 */
export async function addRecord(stateDirectory: string, record: VmiRecord): Promise<boolean> {
  const target = fileOf(stateDirectory, record.namespace, record.name);
  await sweep(folderOf(stateDirectory));
  return createDurably(target, JSON.stringify(record));
}

/**
 * Replaces the present record, which must belong to the same VMI, with a changed one. For the one
 * process that handles the VMI's move.
 */
export async function changeRecord(
  stateDirectory: string,
  record: VmiRecord,
  change: Partial<Pick<VmiRecord, "podUid" | "lastMove">>,
): Promise<VmiRecord> {
  const { namespace, name, vmi } = record;
  const current = await readRecord(stateDirectory, namespace, name);
  if (current?.vmi.metadata?.uid !== vmi.metadata?.uid) throw gone(record);
  const { move, ...kept } = { ...record, ...change };
  writeDurably(fileOf(stateDirectory, namespace, name), JSON.stringify(kept));
  return move ? { ...kept, move } : kept;
}

/**
 * The record with this name; undefined if there is none.
 *
 * @throws NodeAgentError `AGENT_JOURNAL` if it cannot be read: a garbled record does not mean that
 * nothing runs.
 */
export async function readRecord(
  stateDirectory: string,
  namespace: string,
  name: string,
): Promise<VmiRecord | undefined> {
  const parse = parseIn(stateDirectory);
  const found = await readRecordFile(fileOf(stateDirectory, namespace, name), parse);
  if (found && "unreadable" in found) throw unreadable(found.unreadable);
  return found?.record;
}

/** Reads a record, and the move that is under way: a record without it would not be whole. */
function parseIn(stateDirectory: string): typeof parseRecord {
  return (text, vmi) => {
    const { move: _, ...record } = parseRecord(text, vmi);
    const move = new MoveFile(stateDirectory, record).read();
    return move ? { ...record, move } : record;
  };
}

function parseRecord(
  text: string,
  { namespace, name }: Pick<VmiRecord, "namespace" | "name">,
): VmiRecord {
  if (text === "") throw new Error("it is empty");
  const record = Object(JSON.parse(text)) as Partial<VmiRecord>;
  if (record.version !== 1) {
    const found = JSON.stringify(record.version)?.slice(0, 20) ?? "none";
    throw new Error(`its version is ${found}, and this release knows only 1`);
  }
  if (record.namespace !== namespace || record.name !== name) {
    throw new Error("it is the record of another VMI");
  }
  if (isWholeRecord(record)) return record as VmiRecord;
  throw new Error("a field is missing or wrong");
}

/** All records of a state directory, by namespace and name. */
export interface RecordList {
  readonly records: readonly VmiRecord[];
  /** Unreadable ones. They do not hide the others. */
  readonly unreadable: readonly UnreadableRecord[];
}

/**
 * @throws NodeAgentError if the directory cannot be listed: one that cannot be read is not empty.
 */
export async function listRecords(stateDirectory: string): Promise<RecordList> {
  const folder = folderOf(stateDirectory);
  const found = { records: [] as VmiRecord[], unreadable: [] as UnreadableRecord[] };
  for (const name of (await namesIn(folder)).sort()) {
    const file = await readRecordFile(join(folder, name), parseIn(stateDirectory));
    if (!file) continue;
    if ("record" in file) found.records.push(file.record);
    else found.unreadable.push(file.unreadable);
  }
  return found;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    const text = `the VMIs in ${folder} cannot be listed: ${message}; run it as root (sudo -E)`;
    throw new NodeAgentError("AGENT_JOURNAL", text, { path: folder, cause: error });
  }
}

/** The last step of a removal. Can be repeated, and a newer VMI with the name keeps its record. */
export async function removeRecord(
  stateDirectory: string,
  { namespace, name, podUid }: Pick<VmiRecord, "namespace" | "name" | "podUid">,
): Promise<void> {
  const current = await readRecord(stateDirectory, namespace, name);
  if (current?.podUid === podUid) {
    removeDurably(fileOf(stateDirectory, namespace, name));
  }
  await sweep(folderOf(stateDirectory));
}

/** Removes what a killed writer left. */
async function sweep(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const writer = writerOf(name);
    if (writer === undefined || existsSync(`/proc/${writer}`)) continue;
    await rm(join(folder, name), { force: true });
  }
}

/**
 * Removes an unreadable record. A directory in its place is removed only if it is empty: its
 * content is not ours.
 */
export async function removeUnreadableRecord(stateDirectory: string, file: string): Promise<void> {
  try {
    if ((await lstat(file)).isDirectory()) await rmdir(file);
    else removeDurably(file);
  } catch (error) {
    const { code, message: found } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") {
      const message = `${file} cannot be removed: ${found}; check the file, then move it away`;
      throw new NodeAgentError("AGENT_JOURNAL", message, { path: file, cause: error });
    }
  }
  await sweep(folderOf(stateDirectory));
}

/** Whether this process has started, or is starting, the VMI. */
export function isOwnStart({ starter }: VmiRecord): boolean {
  using self = ProcessHandle.open(process.pid);
  const { pid, startTime, bootId } = identityOf(self);
  return starter.pid === pid && starter.startTime === startTime && starter.bootId === bootId;
}

/** The error for a VMI of which nothing runs. */
export function gone({ name }: Pick<VmiRecord, "name">): NodeAgentError {
  const message = `${name} is not running; start it again with "virtkit run", or remove it with "virtkit rm ${name}"`;
  return new NodeAgentError("AGENT_SANDBOX_GONE", message, { path: name });
}
