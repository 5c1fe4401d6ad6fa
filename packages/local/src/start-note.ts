import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "@virtkit/host-primitives/durable";
import type { ClusterObjects } from "@virtkit/launcher-pod";
import { NodeAgentError } from "@virtkit/node-agent/errors";
import { localNames } from "./local-names.ts";
import type { VolumeSources } from "./pod-volumes.ts";

/** What a Pod was started with besides its VMI: needed to create another one for the same guest. */
export interface StartNote {
  readonly sources: VolumeSources;
  readonly objects: ClusterObjects;
  readonly pidsLimit?: number;
  readonly allowedHostDiskDirectories: readonly string[];
}

const version = 1;

function fileOf(stateDirectory: string, podUid: string): string {
  return join(localNames(stateDirectory, podUid).directory, "start.json");
}

/** Writes it to the Pod's folder, which must exist. Only root can read it: it contains Secrets. */
export function keepStartNote(stateDirectory: string, podUid: string, note: StartNote): void {
  const file = fileOf(stateDirectory, podUid);
  const before = process.umask(0o077);
  try {
    writeDurably(file, JSON.stringify({ version, ...note }));
  } finally {
    process.umask(before);
  }
  chmodSync(file, 0o600);
}

/**
 * @throws NodeAgentError if there is none: the Pod was started by a release that did not write it.
 */
export function readStartNote(stateDirectory: string, podUid: string): StartNote {
  const file = fileOf(stateDirectory, podUid);
  try {
    const note = Object(JSON.parse(readFileSync(file, "utf8"))) as StartNote & { version?: number };
    if (note.version === version) return note;
  } catch (error) {
    throw missing(file, error);
  }
  throw missing(file);
}

function missing(file: string, cause?: unknown): NodeAgentError {
  const message = `${file} cannot be read, so it is not known what its disks were created from; stop the VMI and start it again, then it can move`;
  return new NodeAgentError("AGENT_JOURNAL", message, { path: file, cause });
}
