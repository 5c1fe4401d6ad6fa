import { watch as watchFolder } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError, type Log, type Observers, silentLog } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { NodeAgentError } from "../node-agent-error.ts";
import { readVmis } from "./read-vmis.ts";
import type { VmiChange, VmiSource } from "./vmi-source.ts";

/** How {@link folderSource} looks for changes. */
export interface FolderSourceOptions extends Pick<Observers, "log"> {
  /** Milliseconds between two checks if nothing is reported. Default 5,000. */
  readonly rescan?: number;
  /** Milliseconds for which a VMI must be missing until it counts as removed. Default 1,000. */
  readonly settle?: number;
  readonly clock?: Clock;
  /** Milliseconds, as the clock counts them by default. */
  readonly now?: () => number;
}

const extensions = [".yaml", ".yml", ".json"];
const mostFiles = 10_000;

/**
 * VMIs from a folder of manifests (`*.yaml`, `*.yml`, `*.json`; hidden files and folders are skipped). The
 * folder is read when the kernel reports a change, and now and then.
 *
 * A VMI is removed only if its file is gone or no longer contains it, and this is still so a moment later:
 * editors replace files, and write them piece by piece. A file that is empty or broken, or a
 * folder that cannot be read, is a `problem`, reported once; its previous VMIs stay. If two files contain a
 * VMI of the same name, the first file by name counts, and the other is a problem.
 */
export function folderSource(directory: string, options: FolderSourceOptions = {}): VmiSource {
  return { watch: ({ signal } = {}) => changes(new Folder(directory, options), signal) };
}

async function* changes(
  folder: Folder,
  signal: AbortSignal | undefined,
): AsyncGenerator<VmiChange> {
  using bell = new Bell(folder, signal);
  let synced = false;
  while (!signal?.aborted) {
    yield* await folder.scan();
    if (!synced) yield { kind: "synced" };
    synced = true;
    await bell.rung();
  }
}

/** Fires when the folder changes, when a check is due, and when the watch ends. */
class Bell implements Disposable {
  readonly #folder: Folder;
  readonly #signal: AbortSignal | undefined;
  #watcher: ReturnType<typeof watchFolder> | undefined;
  #ringing = false;
  #ring: () => void = () => {
    this.#ringing = true;
  };

  constructor(folder: Folder, signal: AbortSignal | undefined) {
    this.#folder = folder;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#ring();

  async rung(): Promise<void> {
    this.#listen();
    await new Promise<void>((resolve) => {
      const { clock } = this.#folder;
      const timer = clock.setTimeout(resolve, this.#folder.patience());
      this.#ring = () => {
        this.#ringing = true;
        clock.clearTimeout(timer);
        resolve();
      };
      if (this.#ringing || this.#signal?.aborted) this.#ring();
    });
    this.#ringing = false;
  }

  /** The folder may not exist yet, or no longer: then periodic checks must do. */
  #listen(): void {
    if (this.#watcher) return;
    try {
      const watcher = watchFolder(this.#folder.directory, () => this.#ring());
      watcher.on("error", () => this.#forget());
      watcher.on("close", () => this.#forget());
      this.#watcher = watcher;
    } catch (error) {
      this.#folder.log.debug(
        { error: describeError(error) },
        "the folder is not watched, only read",
      );
      this.#watcher = undefined;
    }
  }

  #forget(): void {
    this.#watcher = undefined;
  }

  [Symbol.dispose](): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#watcher?.close();
  }
}

class Folder {
  readonly directory: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly #rescan: number;
  readonly #settle: number;
  readonly #now: () => number;
  /** What each file held when it was last read successfully. */
  readonly #files = new Map<string, readonly VirtualMachineInstance[]>();
  /** VMIs that were reported, by namespace and name. */
  readonly #told = new Map<string, VirtualMachineInstance>();
  /** Since when reported VMIs are missing. */
  readonly #missing = new Map<string, number>();
  /** Reported problems, by path; reported again when they change. */
  #problems = new Map<string, string>();

  constructor(
    directory: string,
    {
      rescan = 5_000,
      settle = 1_000,
      log = silentLog,
      clock = realClock,
      now = () => clock.now(),
    }: FolderSourceOptions,
  ) {
    this.directory = directory;
    this.#rescan = rescan;
    this.#settle = settle;
    this.log = log;
    this.clock = clock;
    this.#now = now;
  }

  /** Milliseconds until the next check. */
  patience(): number {
    return this.#missing.size > 0 ? Math.min(this.#settle, this.#rescan) : this.#rescan;
  }

  async scan(): Promise<VmiChange[]> {
    const problems = new Map<string, Error>();
    const names = await this.#list(problems);
    if (names) {
      for (const name of names) await this.#read(name, problems);
      for (const name of this.#files.keys()) if (!names.includes(name)) this.#files.delete(name);
    }
    const changes = this.#compare(problems);
    return [...this.#newProblems(problems), ...changes];
  }

  async #list(problems: Map<string, Error>): Promise<readonly string[] | undefined> {
    try {
      const names = (await readdir(this.directory))
        .filter((name) => !name.startsWith(".") && extensions.some((end) => name.endsWith(end)))
        .sort();
      if (names.length <= mostFiles) return names;
      throw new NodeAgentError("AGENT_MANIFEST", `${this.directory}: over ${mostFiles} manifests`);
    } catch (error) {
      problems.set(this.directory, asError(error));
      return undefined;
    }
  }

  async #read(name: string, problems: Map<string, Error>): Promise<void> {
    const path = join(this.directory, name);
    try {
      const vmis = await readVmis(path);
      if (vmis.length > 0) this.#files.set(name, vmis);
      else
        throw new NodeAgentError("AGENT_MANIFEST", `${path}: contains no VMI; remove it`, { path });
    } catch (error) {
      problems.set(path, asError(error));
    }
  }

  /** What to report so that listeners know what the files hold. */
  #compare(problems: Map<string, Error>): VmiChange[] {
    const wanted = this.#wanted(problems);
    const changes: VmiChange[] = [];
    for (const [key, vmi] of this.#told) {
      if (!this.#isGone(key, wanted)) continue;
      this.#told.delete(key);
      changes.push({ kind: "removed", vmi });
    }
    for (const [key, vmi] of wanted) {
      const before = this.#told.get(key);
      if (before && isDeepStrictEqual(before, vmi)) continue;
      this.#told.set(key, vmi);
      changes.push({ kind: before ? "changed" : "added", vmi });
    }
    return changes;
  }

  #isGone(key: string, wanted: ReadonlyMap<string, unknown>): boolean {
    const since = this.#missing.get(key) ?? this.#now();
    const gone = !wanted.has(key) && this.#now() - since >= this.#settle;
    if (gone || wanted.has(key)) this.#missing.delete(key);
    else this.#missing.set(key, since);
    return gone;
  }

  #wanted(problems: Map<string, Error>): Map<string, VirtualMachineInstance> {
    const wanted = new Map<string, VirtualMachineInstance>();
    for (const name of [...this.#files.keys()].sort()) {
      for (const vmi of this.#files.get(name) ?? []) {
        const key = `${vmi.metadata?.namespace}/${vmi.metadata?.name}`;
        if (!wanted.has(key)) wanted.set(key, vmi);
        else {
          const path = join(this.directory, name);
          const message = `${path}: ${key} is also in another manifest; remove one of them`;
          problems.set(path, new NodeAgentError("AGENT_MANIFEST", message, { path }));
        }
      }
    }
    return wanted;
  }

  #newProblems(problems: ReadonlyMap<string, Error>): VmiChange[] {
    const before = this.#problems;
    this.#problems = new Map([...problems].map(([path, error]) => [path, error.message]));
    return [...problems]
      .filter(([path, error]) => before.get(path) !== error.message)
      .map(([path, error]) => ({ kind: "problem", path, error }));
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
