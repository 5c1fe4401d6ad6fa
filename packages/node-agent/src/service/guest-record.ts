import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@virtkit/api/shape";
import { removeDurably, writeDurably } from "@virtkit/host-primitives/durable";
import { checkUid } from "../check-uid.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import { isProcessIdentity, type ProcessIdentity } from "../sandbox/process-identity.ts";

/** What the agent knows about an incarnation of a launcher, on disk. */
export interface GuestRecord {
  readonly namespace: string;
  readonly name: string;
  readonly vmiUid: string;
  readonly podUid: string;
  readonly containerID: string;
  /** The agent recognises its own claim by it. */
  readonly nonce: string;
  readonly process: ProcessIdentity;
  /** The boot of the node in which it was found, as grants name it; absent in records of earlier releases. */
  readonly bootID?: string;
  /** When the guest was first asked to shut down; milliseconds since the epoch. */
  readonly askedAt?: number;
  /** What the guest was last brought to, as a digest. */
  readonly synced?: string;
  /** How the guest ended, recorded before libvirt forgot it. */
  readonly end?: EndedGuest;
  /** The last memory dump that has ended: it is not made twice because its end was not reported. */
  readonly dump?: EndedDump;
}

/** How a guest ended. */
export interface EndedGuest {
  readonly state: "Shutoff" | "Crashed";
  readonly reason: string;
  /** Whether it could have been asked to shut down: then having been killed is a failure. */
  readonly acpi?: boolean;
}

/** A memory dump that was written, or that failed. */
export interface EndedDump {
  /** As the launcher sees it. */
  readonly path: string;
  readonly startTimestamp: string;
  readonly endTimestamp: string;
  /** Absent if it was written. */
  readonly failureReason?: string;
}

const version = 1;
const most = 65_536;

/** The records of this node, one file for each Pod. */
export class GuestRecords {
  readonly #directory: string;

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, "guests");
  }

  /** On disk when it returns. */
  write(record: GuestRecord): void {
    writeDurably(this.#file(record.podUid), JSON.stringify({ version, ...record }));
  }

  remove(podUid: string): void {
    removeDurably(this.#file(podUid));
  }

  /** All readable ones; `problems` names the unreadable files, which are left alone. */
  all(): { readonly records: readonly GuestRecord[]; readonly problems: readonly string[] } {
    const records: GuestRecord[] = [];
    const problems: string[] = [];
    for (const file of this.#files()) {
      const record = readRecord(join(this.#directory, file));
      if (record && `${record.podUid}.json` === file) records.push(record);
      else problems.push(join(this.#directory, file));
    }
    return { records, problems };
  }

  #files(): readonly string[] {
    try {
      return readdirSync(this.#directory).filter((name) => /^[\w-]+\.json$/.test(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw unreadable(this.#directory, error);
    }
  }

  #file(podUid: string): string {
    checkUid(podUid, "podUid");
    return join(this.#directory, `${podUid}.json`);
  }
}

function unreadable(path: string, cause: unknown): NodeAgentError {
  const message = `${path} cannot be read; without it, the agent knows none of its guests: ${String(cause)}`;
  return new NodeAgentError("AGENT_JOURNAL", message, { path, cause });
}

function readRecord(file: string): GuestRecord | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const value: unknown = text.length <= most ? JSON.parse(text) : undefined;
    return isRecord(value) ? value : undefined;
  } catch {
    // Listed among the problems: what is not understood proves nothing.
    return undefined;
  }
}

function isRecord(value: unknown): value is GuestRecord {
  if (!isObject(value) || value["version"] !== version) return false;
  const texts = ["namespace", "name", "vmiUid", "podUid", "containerID", "nonce"];
  const { askedAt, bootID } = value;
  return (
    texts.every((field) => typeof value[field] === "string" && value[field] !== "") &&
    isProcessIdentity(value["process"]) &&
    (askedAt === undefined || typeof askedAt === "number") &&
    (bootID === undefined || typeof bootID === "string")
  );
}
