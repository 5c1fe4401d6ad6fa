import type { Clock } from "@virtkit/api/clock";
import type { Random } from "@virtkit/api/random";
import type { DomainStatus, GuestIdentity } from "@virtkit/domain-manager";
import type { ContainerProcess } from "../cluster/container-script.ts";
import type { GuestScript } from "../hypervisor/guest-script.ts";
import type { MigrationWires } from "../hypervisor/migration/migration-wires.ts";
import { SimulatedMigrations } from "../hypervisor/migration/simulated-migrations.ts";
import { SimulatedGuest } from "../hypervisor/simulated-guest.ts";

/** What a {@link SimulatedLauncher} is made from. */
export interface SimulatedLauncherOptions {
  readonly identity: GuestIdentity;
  readonly node: string;
  readonly script: GuestScript;
  readonly clock: Clock;
  readonly random: Random;
  readonly process: ContainerProcess;
  /** What joins it to the launchers of other nodes. */
  readonly wires: MigrationWires;
  /** Called after each change of the guest, and when the launcher has ended. */
  readonly changed: () => void;
}

/** Milliseconds between two requests to a guest to power off. */
const askAgain = 5_000;
/** Milliseconds from the end of a guest until its launcher has ended. */
const lastRites = 200;

/** The process in a launcher Pod's compute container on a simulated node. It runs one guest, and ends with it. */
export class SimulatedLauncher {
  readonly identity: GuestIdentity;
  /** The node that it runs on. */
  readonly node: string;
  readonly containerID: string;
  readonly guest: SimulatedGuest;
  /** The verbs by which its guest moves. */
  readonly migrations: SimulatedMigrations;
  readonly #options: SimulatedLauncherOptions;
  #status: DomainStatus | undefined;
  #asking: unknown;

  constructor(options: SimulatedLauncherOptions) {
    const { identity, node, script, clock, random, process, wires } = options;
    this.#options = options;
    this.identity = identity;
    this.node = node;
    this.containerID = process.id;
    this.guest = new SimulatedGuest({ identity, script, clock, random });
    this.migrations = new SimulatedMigrations({ guest: this.guest, wires, node, clock });
    process.told.addEventListener("abort", () => this.end(), { once: true });
    process.over.addEventListener("abort", () => this.#vanish(), { once: true });
    void this.#follow();
  }

  /** Whether the process has ended, and its guest with it. */
  get isOver(): boolean {
    return this.#options.process.over.aborted;
  }

  /** What its guest was last. */
  get status(): DomainStatus | undefined {
    return this.#status;
  }

  /** Whether the guest's vCPUs run. */
  get isRunning(): boolean {
    return !this.isOver && this.#status?.state === "Running";
  }

  /** Whether there is a QEMU. */
  get isActive(): boolean {
    return !this.isOver && isActive(this.#status);
  }

  /** Ends it in order: its guest is asked to power off, again and again. */
  end(): void {
    const { clock, process } = this.#options;
    if (this.isOver) return;
    if (!this.isActive) {
      process.exit(0);
      return;
    }
    clock.clearTimeout(this.#asking);
    // A guest that has just ended needs no request.
    void this.guest.shutdown().catch(() => {});
    this.#asking = clock.setTimeout(() => this.end(), askAgain);
  }

  async #follow(): Promise<void> {
    const { process, clock, changed } = this.#options;
    for await (const event of this.guest.events({ signal: process.over })) {
      if (event.kind !== "status") continue;
      const wasActive = isActive(this.#status);
      this.#status = event.status;
      changed();
      if (wasActive && !this.isActive) clock.setTimeout(() => process.exit(0), lastRites);
    }
  }

  /** The container is gone, and QEMU with it. */
  #vanish(): void {
    const { clock, changed } = this.#options;
    clock.clearTimeout(this.#asking);
    this.migrations[Symbol.dispose]();
    this.guest[Symbol.dispose]();
    changed();
  }
}

function isActive(status: DomainStatus | undefined): boolean {
  return status !== undefined && !["Absent", "Shutoff", "Crashed"].includes(status.state);
}
