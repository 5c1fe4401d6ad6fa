import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { hasErrno } from "@virtkit/host-primitives";
import { type DeviceNumber, makeNode, removeFile } from "@virtkit/host-primitives/safe-path";
import { NodeAgentError } from "../node-agent-error.ts";
import { bindOpenFile, ifThere, unbindFile } from "../prepare/bind-file.ts";
import { oneAtATime } from "../prepare/one-at-a-time.ts";
import { defaultOwner } from "../prepare/plan-preparation.ts";
import {
  hasEnded,
  hasExited,
  identityOf,
  type ProcessIdentity,
} from "../sandbox/process-identity.ts";
import { assertRunning, type Sandbox } from "../sandbox/sandbox.ts";
import { type AttachmentRoot, findAttachedVolume } from "./attached-volume.ts";
import { allowDevice } from "./device-access.ts";
import { HotplugJournal, type PlugRecord } from "./hotplug-journal.ts";
import type { WantedPlug } from "./hotplug-plan.ts";

/** What {@link HotplugVolumes} works with. */
export interface HotplugOptions {
  readonly stateDirectory: string;
  /** The launcher's user. Default 107:107, as in KubeVirt. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Called for each mark in the journal and each change that is made; for tests. */
  readonly onProgress?: (mark: "begun" | "plugged" | "unplugging" | "unplugged") => void;
}

/** For whom a volume is plugged in. */
export interface PlugSubject {
  readonly vmi: VirtualMachineInstance;
  readonly config: ClusterConfig;
}

/**
 * The hotplugged volumes in one sandbox. Each is in the Pod's journal from before it is mounted until it is
 * unmounted: after a crash at any point, the same call continues. Mounts stay when the agent ends, and when the
 * attachment Pod does.
 */
export class HotplugVolumes {
  readonly #sandbox: Sandbox;
  readonly #options: HotplugOptions;
  readonly #process: ProcessIdentity;
  #known: ReturnType<HotplugJournal["records"]> | undefined;

  constructor(sandbox: Sandbox, options: HotplugOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
    this.#process = identityOf(sandbox.process);
  }

  /** Volumes in the sandbox that its launcher can use. */
  plugged(): readonly string[] {
    const done = this.#begun().filter(({ state }) => state === "done");
    return done.map(({ volume }) => volume);
  }

  /** What an interrupted call has left half-way, which must be finished or undone. */
  interrupted(): readonly string[] {
    const left = this.#begun().filter(({ state }) => state !== "done");
    return left.map(({ volume }) => volume);
  }

  /** Everything that was begun. The journal is read once: nobody else writes it. */
  #begun(): ReturnType<HotplugJournal["records"]> {
    if (!this.#known) {
      using journal = this.#journal();
      this.#known = this.#records(journal);
    }
    return this.#known;
  }

  /**
   * Puts a volume into the sandbox: the image or the directory is mounted, a device gets a node and the right to be used.
   *
   * @throws NodeAgentError `AGENT_VOLUME_MISSING` if the attachment Pod does not have it.
   */
  async plug(
    { volume, kind, target }: Omit<WantedPlug, "attachment">,
    attachment: AttachmentRoot,
    subject: PlugSubject,
  ): Promise<void> {
    await this.#alone(async (journal) => {
      assertRunning(this.#sandbox);
      const found = findAttachedVolume(attachment, volume, kind);
      const record = { volume, kind, target, process: this.#process };
      if (found.kind === "device") {
        const { device } = found;
        this.#begin(journal, { ...record, device });
        this.#plugDevice(target, device, this.#facts(journal, subject));
      } else {
        using file = found.file;
        this.#begin(journal, record);
        if (kind === "image") this.#own(file);
        await bindOpenFile(file, target, this.#sandbox, {
          readOnly: false,
          spaces: [attachment.mounts],
        });
      }
      this.#options.onProgress?.("plugged");
      journal.finish(volume);
    });
  }

  /** Removes a volume from the sandbox. The caller has made sure that no guest uses it. */
  async unplug(volume: string, subject?: PlugSubject): Promise<void> {
    await this.#alone(async (journal) => {
      const record = this.#records(journal).find((each) => each.volume === volume);
      if (!record) return;
      journal.beginUndo(volume);
      this.#options.onProgress?.("unplugging");
      await this.#takeBack(record, journal, subject);
      this.#options.onProgress?.("unplugged");
      journal.forget(volume);
    });
  }

  async #takeBack(
    { kind, target, device }: PlugRecord,
    journal: HotplugJournal,
    subject: PlugSubject | undefined,
  ): Promise<void> {
    if (kind !== "device" || !device) return await unbindFile(target, this.#sandbox);
    allowDevice(this.#sandbox, device, false, subject && this.#facts(journal, subject));
    const found = ifThere(() => this.#sandbox.root.resolve(target, "block"));
    if (!found) return;
    using node = found;
    if (!isSame(node.stat().device, device)) return;
    using entry = this.#sandbox.root.locate(target);
    removeFile(entry.directory, entry.name);
  }

  #plugDevice(
    target: string,
    device: DeviceNumber,
    facts: Parameters<typeof allowDevice>[3],
  ): void {
    const { root } = this.#sandbox;
    const { uid, gid } = this.#options.owner ?? defaultOwner;
    using entry = root.locate(target);
    try {
      makeNode(entry.directory, entry.name, { type: "block", device, mode: 0o660 }).close();
    } catch (error) {
      if (!hasErrno(error, "EEXIST")) throw error;
    }
    using node = root.resolve(target, "block");
    if (!isSame(node.stat().device, device)) {
      const message = `${target} in the sandbox is not the device of its volume; remove it from the Pod`;
      throw new NodeAgentError("AGENT_SANDBOX", message, { path: target });
    }
    node.chown(uid, gid);
    allowDevice(this.#sandbox, device, true, facts);
  }

  /** The guest's hypervisor writes to the image; one that it can already use keeps its owner. */
  #own(file: Extract<ReturnType<typeof findAttachedVolume>, { file: unknown }>["file"]): void {
    const { uid, gid } = this.#options.owner ?? defaultOwner;
    const status = file.stat();
    if (status.uid !== uid && (status.mode & 0o006) !== 0o006) file.chown(uid, gid);
  }

  #begin(journal: HotplugJournal, record: PlugRecord): void {
    journal.begin(record);
    this.#options.onProgress?.("begun");
  }

  /** Those of this sandbox's process; what was in another process's namespaces went with them. */
  #records(journal: HotplugJournal): ReturnType<HotplugJournal["records"]> {
    const own = JSON.stringify(this.#process);
    return journal.records().filter(({ process }) => JSON.stringify(process) === own);
  }

  #facts(journal: HotplugJournal, subject: PlugSubject): Parameters<typeof allowDevice>[3] {
    const plugged = this.#records(journal)
      .filter(({ state }) => state !== "undoing")
      .flatMap(({ device }) => (device ? [device] : []));
    return { ...subject, plugged };
  }

  #journal(): HotplugJournal {
    return new HotplugJournal(this.#options.stateDirectory, this.#sandbox.podUid);
  }

  async #alone<T>(work: (journal: HotplugJournal) => Promise<T>): Promise<T> {
    const { stateDirectory } = this.#options;
    return await oneAtATime(`${stateDirectory}/${this.#sandbox.podUid}`, async () => {
      using journal = this.#journal();
      this.#known = undefined;
      try {
        return await work(journal);
      } finally {
        this.#known = undefined;
      }
    });
  }
}

/**
 * Removes all hotplugged volumes from a Pod's sandbox, and their journal. If the sandbox's process is proven to
 * have ended, there is nothing to remove; a sandbox that is merely unknown is not forgotten.
 */
export async function unplugAll(
  podUid: string,
  sandbox: Sandbox | undefined,
  options: HotplugOptions,
): Promise<void> {
  if (sandbox && !hasExited(sandbox.process)) {
    const volumes = new HotplugVolumes(sandbox, options);
    for (const volume of [...volumes.plugged(), ...volumes.interrupted()])
      await volumes.unplug(volume);
  }
  await oneAtATime(`${options.stateDirectory}/${podUid}`, async () => {
    using journal = new HotplugJournal(options.stateDirectory, podUid);
    for (const { process, volume } of journal.records()) {
      if (hasEnded(process)) continue;
      const message = `volume ${volume} is in the sandbox of process ${process.pid}, which still runs; open it by that pid and pass it, or end the process first`;
      throw new NodeAgentError("AGENT_SANDBOX", message, { path: "sandbox" });
    }
    journal.remove();
  });
}

function isSame(a: DeviceNumber, b: DeviceNumber): boolean {
  return a.major === b.major && a.minor === b.minor;
}
