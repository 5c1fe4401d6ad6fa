import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { NodeAgentError } from "@virtkit/node-agent/errors";

/** A record of which only the file's name is certain. */
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
export type RecordFile<T> = { readonly record: T } | { readonly unreadable: UnreadableRecord };

type VmiName = Pick<UnreadableRecord, "namespace" | "name">;

const maxBytes = 4 * 1024 * 1024;
const namePattern = /^([a-z0-9][-a-z0-9.]*)_([a-z0-9][-a-z0-9.]*)\.json$/;

function vmiOfFile(file: string): VmiName | undefined {
  const [, namespace, name] = namePattern.exec(basename(file)) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/**
 * Reads one record; undefined if there is none, or if the file's name is not that of a record.
 * Whatever is in its place never makes it hang or fill memory.
 */
export async function readRecordFile<T>(
  file: string,
  parse: (text: string, vmi: VmiName) => T,
): Promise<RecordFile<T> | undefined> {
  const vmi = vmiOfFile(file);
  if (!vmi) return undefined;
  let text = "";
  try {
    text = await boundedText(file);
    return { record: parse(text, vmi) };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    const denied = ["EACCES", "EPERM"].includes(code);
    const problem = denied ? `${message}; run it as root (sudo -E)` : message;
    const podUid = namedPod(text);
    return { unreadable: { ...vmi, file, problem, ...(podUid ? { podUid } : {}) } };
  }
}

async function boundedText(file: string): Promise<string> {
  // Without the flag it would wait for a pipe in its place.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new Error("it is not a regular file");
    if (found.size > maxBytes)
      throw new Error(`it has ${found.size} bytes, and at most ${maxBytes} are allowed`);
    // Never more than its size, even if the file grows.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(found.size), 0, found.size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

const podField = /"podUid"\s*:\s*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/;

function namedPod(text: string): string | undefined {
  return podField.exec(text)?.[1];
}

/** The error for whoever needs the record itself. */
export function unreadable({ namespace, name, file, problem }: UnreadableRecord): NodeAgentError {
  const shown = namespace === "default" ? name : `${namespace}/${name}`;
  const message = `the record ${file} cannot be read: ${problem}. Its guest may be running; to end it, run: virtkit stop ${shown}, then: virtkit rm ${shown}`;
  return new NodeAgentError("AGENT_JOURNAL", message, { path: file });
}
