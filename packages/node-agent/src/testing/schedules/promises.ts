import type { ReadGrant } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import type { CopyWatch, SmallLauncher } from "./small-launcher.ts";
import type { SmallStore, StoreChange } from "./small-store.ts";

/** Phases of a migration in the order in which they are reached; the last two exclude each other. */
const phases = [
  ...["", "Pending", "Scheduling", "Scheduled", "PreparingTarget", "TargetReady", "Running"],
  ...["Succeeded", "Failed"],
];

/** The parts of a world that promises are about. */
interface PromisedWorld {
  readonly launchers: readonly SmallLauncher[];
  readonly store: SmallStore;
  readonly grant: ReadGrant | undefined;
  readonly vmi: (VirtualMachineInstance & KubeObject) | undefined;
}

/** What must hold at every step. The first violation is kept. */
export class Promises implements CopyWatch {
  broken: string | undefined;
  /** What somebody outside the control plane did is not its fault. */
  isForced = false;
  readonly #world: PromisedWorld;
  #moment = 0;

  constructor(world: PromisedWorld) {
    this.#world = world;
  }

  moment(): number {
    return ++this.#moment;
  }

  resumes(launcher: SmallLauncher): void {
    for (const other of this.#world.launchers) {
      if (other === launcher) continue;
      if (other.isRunning) this.#break(`2 copies run: ${other.podName} and ${launcher.podName}`);
      if (other.ranAt > launcher.capturedAt) {
        this.#break(
          `${launcher.podName} resumes, and ${other.podName} has run since its memory was captured`,
        );
      }
    }
    const { grant } = this.#world;
    const isHolder =
      grant && "holder" in grant && grant.holder?.podUID === launcher.container.podUid;
    if (grant?.state === "Released" && isHolder) {
      this.#break(`${launcher.podName} resumes, and its grant says that it was released`);
    }
  }

  /** The control plane itself destroys a copy: is it one that is wanted? */
  ends({ container: { podUid }, podName }: SmallLauncher, reason: string): void {
    const { grant, vmi } = this.#world;
    if (this.isForced || reason !== "Destroyed" || !vmi || !grant) return;
    if (vmi.metadata.deletionTimestamp) return;
    const holder = "holder" in grant ? grant.holder?.podUID : undefined;
    const target = "target" in grant ? grant.target.podUID : undefined;
    const isWanted = grant.state === "Released" ? target === podUid : holder === podUid;
    if (grant.state !== "Ended" && isWanted) {
      this.#break(`the copy in ${podName} is wanted (${grant.state}) and was destroyed`);
    }
  }

  changed({ by, plural, verb, before, after }: StoreChange): void {
    if (plural === "virtualmachineinstancemigrations" && before && after) {
      const [old, now] = [before, after].map((each) => text(at(each, "status", "phase")));
      const isBack = phases.indexOf(now ?? "") < phases.indexOf(old ?? "");
      const isUndone = old === "Succeeded" && now === "Failed";
      if (isBack || isUndone) this.#break(`a migration went from ${old} back to ${now}`);
    }
    if (plural !== "pods" || verb !== "delete" || !by.startsWith("controller")) return;
    const { grant } = this.#world;
    if (!grant || !("target" in grant)) return;
    const uid = before?.metadata.uid;
    if (grant.holder.podUID === uid || grant.target.podUID === uid) {
      const name = text(before?.metadata.name);
      this.#break(`a controller deleted Pod ${name} while its grant was ${grant.state}`);
    }
  }

  /** Agents ask only for what the API server's rule lets them do. */
  refused(why: string): void {
    this.#break(why);
  }

  /** What is still open once everything that can settle has settled. */
  open(): string | undefined {
    const { vmi, store, launchers, grant } = this.#world;
    const running = launchers.filter(({ isRunning }) => isRunning);
    const moving = store
      .list("virtualmachineinstancemigrations")
      .find((each) => !["Succeeded", "Failed"].includes(text(at(each, "status", "phase"))));
    if (moving)
      return `migration ${moving.metadata.name} is ${text(at(moving, "status", "phase"))}`;
    if (!vmi) return running.length > 0 ? "a guest without a VMI runs" : this.#left();
    const { phase } = vmi.status ?? {};
    if (vmi.metadata.deletionTimestamp)
      return `the VMI is being deleted, ${phase}, ${grant?.state}`;
    const [only] = running;
    if (phase === "Failed" || phase === "Succeeded") {
      if (only) return `the VMI has ${phase}, and its guest runs in ${only.podName}`;
      return grant?.state === "Ended"
        ? undefined
        : `the VMI has ${phase}, its grant ${grant?.state}`;
    }
    if (!only) return `no copy runs, the VMI is ${phase}, its grant ${grant?.state}`;
    return this.#misplaced(only) ?? this.#left();
  }

  /** A launcher that waits for nothing. Those of a VMI that has ended may stay until the VMI is deleted. */
  #left(): string | undefined {
    const { launchers } = this.#world;
    const left = launchers.find(({ hasEnded, isRunning }) => !hasEnded && !isRunning);
    return left && `the launcher ${left.podName} is left, without a guest that runs`;
  }

  /** What the VMI or its grant gets wrong about the one running copy. */
  #misplaced({ podName, node, container }: SmallLauncher): string | undefined {
    const { vmi, grant } = this.#world;
    if (grant?.state !== "Claimed") return `${podName} runs, its grant is ${grant?.state}`;
    if (grant.holder.podUID !== container.podUid) return "another copy has the claim";
    const { nodeName } = vmi?.status ?? {};
    return nodeName === node ? undefined : `the guest runs on ${node}, the VMI says ${nodeName}`;
  }

  #break(what: string): void {
    this.broken ??= what;
  }
}
