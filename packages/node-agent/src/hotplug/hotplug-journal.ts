import { existsSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@virtkit/api/shape";
import { HostError, hasErrno } from "@virtkit/host-primitives";
import { removeDurably, StepJournal, type StepState } from "@virtkit/host-primitives/durable";
import type { DeviceNumber } from "@virtkit/host-primitives/safe-path";
import { checkUid } from "../check-uid.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import { isProcessIdentity, type ProcessIdentity } from "../sandbox/process-identity.ts";
import type { PlugKind } from "./hotplug-plan.ts";

/** A volume that was put into a sandbox, or was about to be. */
export interface PlugRecord {
  readonly volume: string;
  readonly kind: PlugKind;
  readonly target: string;
  /** For a device node. */
  readonly device?: DeviceNumber;
  /** First process of the sandbox: the volume does not exist in another one's namespaces. */
  readonly process: ProcessIdentity;
}

/**
 * The hotplugged volumes of one Pod, on disk from before they are mounted until they are unmounted. Separate
 * from the journal of the Pod's preparation: removing a volume affects nothing else.
 */
export class HotplugJournal implements Disposable {
  readonly #directory: string;
  #journal: StepJournal | undefined;

  constructor(stateDirectory: string, podUid: string) {
    this.#directory = join(stateDirectory, "pods", checkUid(podUid, "podUid"));
  }

  /** @throws NodeAgentError `AGENT_JOURNAL` if a record is not one. */
  records(): readonly (PlugRecord & { readonly state: StepState })[] {
    if (!this.#journal && !existsSync(this.#file)) return [];
    return this.#steps.records().map(({ state, details }) => {
      if (isPlugRecord(details)) return { ...details, state };
      const message = `${this.#file} has a record that this release cannot read; check the Pod's mounts by hand, then remove the file`;
      throw new NodeAgentError("AGENT_JOURNAL", message, { path: this.#file });
    });
  }

  begin(record: PlugRecord): void {
    this.#steps.begin(record.volume, record);
  }

  finish(volume: string): void {
    this.#steps.finish(volume);
  }

  beginUndo(volume: string): void {
    this.#steps.beginUndo(volume);
  }

  forget(volume: string): void {
    this.#steps.forget(volume);
  }

  /** Call when nothing is left. The directory goes unless it holds something else of the Pod. */
  remove(): void {
    this.close();
    if (!existsSync(this.#directory)) return;
    removeDurably(this.#file);
    try {
      rmdirSync(this.#directory);
    } catch (error) {
      const failure = HostError.from(error, this.#directory);
      if (!hasErrno(failure, "ENOTEMPTY", "ENOENT")) throw failure;
    }
  }

  close(): void {
    this.#journal?.close();
    this.#journal = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  get #file(): string {
    return join(this.#directory, "hotplug.journal");
  }

  get #steps(): StepJournal {
    this.#journal ??= new StepJournal(this.#file);
    return this.#journal;
  }
}

function isPlugRecord(value: unknown): value is PlugRecord {
  if (!isObject(value)) return false;
  const { volume, kind, target, device, process } = value;
  if (kind === "device" && !isDevice(device)) return false;
  return (
    [volume, target].every((each) => typeof each === "string" && each !== "") &&
    (kind === "image" || kind === "directory" || kind === "device") &&
    isProcessIdentity(process)
  );
}

function isDevice(value: unknown): value is DeviceNumber {
  if (!isObject(value)) return false;
  return [value["major"], value["minor"]].every((each) => Number.isInteger(each));
}
