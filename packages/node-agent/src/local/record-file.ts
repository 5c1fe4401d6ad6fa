import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { NodeAgentError } from "../node-agent-error.ts";
import { isProcessIdentity } from "../sandbox/process-identity.ts";
import type { MachineRecord } from "./machine-record.ts";

/** A record of which its file's name is all that is certain. */
export interface UnreadableRecord {
  readonly namespace: string;
  readonly name: string;
  readonly file: string;
  /** What was found. */
  readonly problem: string;
  /** The Pod that the file still names, whatever else is wrong with it. */
  readonly podUid?: string;
}

/** What a record's file holds. */
export type RecordFile =
  | { readonly record: MachineRecord }
  | { readonly unreadable: UnreadableRecord };

const maxBytes = 4 * 1024 * 1024;
const namePattern = /^([a-z0-9][-a-z0-9.]*)_([a-z0-9][-a-z0-9.]*)\.json$/;

/** The machine that a file's name stands for; undefined where it is not the name of a record. */
export function machineOfFile(file: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = namePattern.exec(basename(file)) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** Reads one record; undefined where there is none. What stands in its place never hangs or fills memory. */
export async function readRecordFile(file: string): Promise<RecordFile | undefined> {
  const machine = machineOfFile(file);
  if (!machine) return undefined;
  let text = "";
  try {
    text = await boundedText(file);
    return { record: parseRecord(text, machine) };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    const denied = ["EACCES", "EPERM"].includes(code);
    const problem = denied ? `${message}; run it as root: sudo -E` : message;
    const podUid = namedPod(text);
    return { unreadable: { ...machine, file, problem, ...(podUid ? { podUid } : {}) } };
  }
}

async function boundedText(file: string): Promise<string> {
  // A pipe in its place would be waited for without the flag.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error("it is not a regular file");
    if (found.size > maxBytes) throw new Error(`it has ${found.size} bytes, at most ${maxBytes}`);
    // Never more than was seen, even of a file that grows.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(found.size), 0, found.size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function parseRecord(
  text: string,
  { namespace, name }: { namespace: string; name: string },
): MachineRecord {
  if (text === "") throw new Error("it is empty");
  const record = Object(JSON.parse(text)) as Partial<MachineRecord>;
  if (record.version !== 1) {
    const found = JSON.stringify(record.version)?.slice(0, 20) ?? "none";
    throw new Error(`its version is ${found}, this release knows 1`);
  }
  if (record.namespace !== namespace || record.name !== name) {
    throw new Error("it is the record of another name");
  }
  const isWhole =
    typeof record.podUid === "string" &&
    typeof record.createdAt === "string" &&
    typeof Object(record.vmi).spec === "object" &&
    Array.isArray(record.published) &&
    isProcessIdentity(record.starter);
  if (isWhole) return record as MachineRecord;
  throw new Error("a field is missing");
}

const podField = /"podUid"\s*:\s*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/;

function namedPod(text: string): string | undefined {
  return podField.exec(text)?.[1];
}

/** The error for whoever needs the record itself. */
export function unreadable({ namespace, name, file, problem }: UnreadableRecord): NodeAgentError {
  const shown = namespace === "default" ? name : `${namespace}/${name}`;
  const message = `the record ${file} cannot be read: ${problem}. Its guest may run; end it with: virtkit stop ${shown}, then: virtkit rm ${shown}`;
  return new NodeAgentError("AGENT_JOURNAL", message, { path: file });
}
