import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  removeDurably,
  StepJournal,
  type StepState,
  syncDirectory,
  writeDurably,
} from "@virtkit/host-primitives/durable";
import { type Journal, openJournal } from "@virtkit/network-setup/apply";
import { checkUid } from "../check-uid.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import { isProcessIdentity, type ProcessIdentity } from "../sandbox/process-identity.ts";
import type { PreparationStep } from "./preparation-step.ts";

/** Whose preparation a journal is about. */
export interface PreparedPod {
  readonly podUid: string;
  readonly vmiUid: string;
  /** First process of the sandbox. */
  readonly process: ProcessIdentity;
  /** Identity of the network namespace, such as `net:[4026531840]`. */
  readonly network: string;
}

/** A step and its progress. `undoing`: the next process that finds it continues to undo. */
export interface StepRecord {
  readonly step: PreparationStep;
  readonly state: StepState;
}

const version = 1;

/**
 * Everything that was done for one Pod, on disk before it was done: a directory with the Pod's identity, the
 * write-ahead journal of the steps, and that of its network. It survives the agent and the host, and goes when
 * everything is undone.
 */
export class PodJournal implements Disposable {
  readonly directory: string;
  /** The journal that the wiring keeps itself. */
  readonly network: Journal;
  readonly #podUid: string;
  #steps: StepJournal | undefined;

  constructor(stateDirectory: string, podUid: string) {
    this.#podUid = checkUid(podUid, "podUid");
    this.directory = join(stateDirectory, "pods", podUid);
    this.network = openJournal(this.directory, podUid);
  }

  /** Whose it is; undefined if nothing was begun. Throws `AGENT_JOURNAL` if that cannot be read. */
  pod(): PreparedPod | undefined {
    try {
      return readPod(readFileSync(this.#podFile, "utf8"), this.#podUid);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      const message = `${this.#podFile} does not say which Pod was prepared; check the Pod's mounts and network by hand, then remove ${this.directory}`;
      throw new NodeAgentError("AGENT_JOURNAL", message, { path: this.#podFile, cause });
    }
  }

  /** Call before the first step. */
  begin(pod: PreparedPod): void {
    writeDurably(this.#podFile, JSON.stringify({ version, ...pod }));
  }

  /** In the order in which they were begun. */
  records(): readonly StepRecord[] {
    if (!this.#steps && !existsSync(this.#stepsFile)) return [];
    return this.#journal.records().map(({ state, details }) => ({
      step: details as PreparationStep,
      state,
    }));
  }

  beginStep(step: PreparationStep): void {
    this.#journal.begin(step.id, step);
  }

  finishStep(step: PreparationStep): void {
    this.#journal.finish(step.id);
  }

  beginUndo(step: PreparationStep): void {
    this.#journal.beginUndo(step.id);
  }

  forget(step: PreparationStep): void {
    this.#journal.forget(step.id);
  }

  /** Call when nothing is left to undo. The Pod's identity goes last. */
  remove(): void {
    this.close();
    removeDurably(this.#stepsFile);
    this.network.remove();
    removeDurably(this.#podFile);
    rmSync(this.directory, { recursive: true, force: true });
    const pods = join(this.directory, "..");
    if (existsSync(pods)) syncDirectory(pods);
  }

  close(): void {
    this.#steps?.close();
    this.#steps = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  get #podFile(): string {
    return join(this.directory, "pod.json");
  }

  get #stepsFile(): string {
    return join(this.directory, "steps.journal");
  }

  get #journal(): StepJournal {
    this.#steps ??= new StepJournal(this.#stepsFile);
    return this.#steps;
  }
}

function readPod(text: string, wanted: string): PreparedPod {
  const value: unknown = JSON.parse(text);
  const { podUid, vmiUid, process, network, ...rest } = Object(value) as Partial<PreparedPod> & {
    version?: unknown;
  };
  const valid = rest.version === version && podUid === wanted && isProcessIdentity(process);
  if (!valid || typeof vmiUid !== "string" || typeof network !== "string") {
    throw new Error("it is from another version, or for another Pod");
  }
  return { podUid, vmiUid, process, network };
}
