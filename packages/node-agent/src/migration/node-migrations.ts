import { isSameHolder } from "@virtkit/api/grant";
import { describeError } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";
import type { MigrationReport } from "@virtkit/launcher/client";
import type { MigrationSide } from "@virtkit/pki";
import type { AgentContext } from "../service/agent-context.ts";
import type { GuestHold } from "../service/guest-hold.ts";
import { grantOf } from "../service/vmi-grant.ts";
import { enterNode } from "./enter-node.ts";
import { FollowedSide } from "./followed-side.ts";
import { isUnderWay } from "./launcher-attempt.ts";
import { leaveNode } from "./leave-node.ts";
import type { MigrationPass, NodeMigrationsOptions } from "./migration-scene.ts";
import type { MigrationWay, WayIn, WayOut } from "./migration-way.ts";
import { movingClient } from "./moving-client.ts";
import { arrivedVmi } from "./plan-target-duty.ts";
import { sourceProofs } from "./source-proofs.ts";
import { VmiGrantStore } from "./vmi-grant-store.ts";

type Vmi = VirtualMachineInstance & KubeObject;

/** Milliseconds until a launcher that has not reported everything is asked again. */
const lostInterval = 2_000;

/** The migrations that guests of this node take part in. */
export class NodeMigrations implements AsyncDisposable {
  readonly #options: NodeMigrationsOptions;
  readonly #sides = new Map<string, FollowedSide>();
  /** Containers of launchers in which nothing is left of another life of this agent. */
  readonly #cleared = new Set<string>();
  /** Launchers, by container and migration, that have reported everything, or are not part of it. */
  readonly #heard = new Set<string>();
  readonly #stop = new AbortController();

  constructor(options: NodeMigrationsOptions) {
    this.#options = options;
  }

  /**
   * Handles a guest of this node that leaves, or may have been asked to.
   *
   * @param arrivedBy the migration that its launcher was started for; undefined if it was started with it.
   */
  async leave(
    vmi: Vmi,
    hold: GuestHold,
    context: AgentContext,
    arrivedBy?: string,
  ): Promise<MigrationPass> {
    await this.#tidy(vmi, hold, context, arrivedBy);
    const scene = { ...this.#options, vmi, hold, context };
    return await leaveNode(scene, {
      side: (migrationUID) => this.#side("source", migrationUID, hold) as FollowedSide<WayOut>,
      store: (join) => new VmiGrantStore(hold.record, context, join),
    });
  }

  /**
   * A guest that belongs to this launcher and is not being handed over needs no connection. The one by which
   * it came is closed once its launcher has reported everything, and leftovers of an earlier agent are
   * removed.
   */
  async #tidy(
    vmi: Vmi,
    hold: GuestHold,
    context: AgentContext,
    arrivedBy: string | undefined,
  ): Promise<void> {
    const { record, launcher } = hold;
    const grant = grantOf(vmi, context.names);
    const { containerID } = record;
    const isOwn = grant.state === "Claimed" && isSameHolder(grant.holder, context.holderOf(record));
    if (!isOwn) return;
    await this.#hearOut(hold, arrivedBy);
    const own = [...this.#sides].filter(([key]) => key.startsWith(`${containerID} `));
    for (const [key, side] of own) {
      if (key.startsWith(`${containerID} target `) && side.isConcluded) await side.closeWay();
    }
    if (!launcher || this.#cleared.has(containerID) || own.some(([, side]) => side.way)) return;
    this.#cleared.add(containerID);
    try {
      launcher.clearWay?.();
    } catch (error) {
      context.log.warn(
        { containerID, error: describeError(error) },
        "a sandbox was not cleaned up",
      );
    }
  }

  /**
   * A launcher whose guest has arrived waits to learn of the claim, and begins no other migration before
   * that. An agent informs it even if it did not get the reply to its claim, or was restarted since. The VMI
   * may already show the next migration.
   */
  async #hearOut(hold: GuestHold, arrivedBy: string | undefined): Promise<void> {
    if (!arrivedBy || hold.hasEnded) return;
    const key = `${hold.record.containerID} ${arrivedBy}`;
    if (this.#heard.has(key)) return;
    const side = this.#side("target", arrivedBy, hold);
    const word = await side.look(movingClient(hold.client));
    if (side.isConcluded || word === "unbegun") this.#heard.add(key);
  }

  /**
   * A launcher whose guest has left this node, or never came to it, may wait to learn what the grant says,
   * and then ends its copy. An agent that was started since informs it.
   */
  async conclude({ status }: Vmi, hold: GuestHold): Promise<void> {
    const { migrationUid, sourceNode, targetNode } = status?.migrationState ?? {};
    const { nodeName } = this.#options;
    if (!migrationUid || (sourceNode !== nodeName && targetNode !== nodeName)) return;
    const kind = sourceNode === nodeName ? "source" : "target";
    await this.#side(kind, migrationUid, hold).look(movingClient(hold.client));
  }

  /** Handles a guest that arrives at a launcher of this node. */
  async enter(vmi: Vmi, hold: GuestHold, context: AgentContext): Promise<MigrationPass> {
    const scene = { ...this.#options, vmi, hold, context };
    return await enterNode(scene, {
      side: (migrationUID) => this.#side("target", migrationUID, hold) as FollowedSide<WayIn>,
      store: () => new VmiGrantStore(hold.record, context),
    });
  }

  /**
   * The progress of a launcher's guest that leaves this node; undefined if it does not, or has not been
   * reported yet.
   */
  progressOf({ record }: GuestHold): MigrationReport["progress"] {
    const prefix = `${record.containerID} source `;
    for (const [key, { word }] of this.#sides) {
      if (key.startsWith(prefix) && isUnderWay(word)) return word.progress;
    }
    return undefined;
  }

  /** Releases the migrations of a launcher that has ended. */
  async forget({ record }: GuestHold): Promise<void> {
    this.#cleared.delete(record.containerID);
    for (const key of this.#heard) {
      if (key.startsWith(`${record.containerID} `)) this.#heard.delete(key);
    }
    for (const [key, side] of this.#sides) {
      if (!key.startsWith(`${record.containerID} `)) continue;
      this.#sides.delete(key);
      await side[Symbol.asyncDispose]();
    }
  }

  /** One side of a migration in one incarnation of a launcher. Swaps of the grant continue after the pass is over. */
  #side(kind: MigrationSide, migrationUID: string, hold: GuestHold): FollowedSide<MigrationWay> {
    const { containerID, namespace, name } = hold.record;
    const key = `${containerID} ${kind} ${migrationUID}`;
    const found = this.#sides.get(key);
    if (found) return found;
    const { context, nodeName, config, enqueue } = this.#options;
    const store = new VmiGrantStore(
      hold.record,
      { ...context, signal: this.#stop.signal },
      (vmi, next) =>
        kind === "target" && next.state === "Claimed"
          ? arrivedVmi(vmi, {
              ...{ node: nodeName, now: context.wall().getTime() },
              ...{ word: side.word, config: config() },
            }).vmi
          : vmi,
    );
    const side = new FollowedSide({
      ...{ migrationUID, store, log: context.log },
      ...{ clock: context.clock, random: context.random },
      holder: context.holderOf(hold.record),
      proofs: async (grant) =>
        kind === "target"
          ? await sourceProofs(grant, namespace, { ...context, signal: this.#stop.signal })
          : [],
      onNews: (isLost) => enqueue({ namespace, name }, isLost ? lostInterval : 0),
    });
    this.#sides.set(key, side);
    return side;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const sides = [...this.#sides.values()];
    this.#sides.clear();
    await Promise.allSettled(sides.map((side) => side[Symbol.asyncDispose]()));
  }
}
