import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { LauncherError } from "@virtkit/launcher/client";
import {
  type MigrationWires,
  SimulatedGuest,
  SimulatedMigrations,
} from "@virtkit/testing/hypervisor";
import { SeededRandom } from "@virtkit/testing/virtual-time";
import type { ProcessIdentity } from "../../sandbox/process-identity.ts";
import type { ContainerName, GuestClient } from "../../service/node-host.ts";
import { launcherWires } from "./launcher-wires.ts";
import { Life } from "./life.ts";
import type { ScheduleClock } from "./schedule-clock.ts";

/** What a {@link SmallLauncher} is made from. */
export interface SmallLauncherOptions {
  readonly node: string;
  readonly bootID: string;
  readonly pid: number;
  readonly podName: string;
  readonly podUid: string;
  readonly vmiUid: string;
  readonly clock: ScheduleClock;
  readonly wires: MigrationWires;
  readonly watch: CopyWatch;
}

/** Called before a copy does something that may be wrong. */
export interface CopyWatch {
  resumes(launcher: SmallLauncher): void;
  ends(launcher: SmallLauncher, reason: string): void;
  /** The current moment, which shows whether memory is older than what has run since. */
  moment(): number;
}

/** A launcher of a node: a process with one simulated guest, or with room for an arriving one. */
export class SmallLauncher {
  readonly node: string;
  readonly podName: string;
  readonly container: ContainerName;
  readonly process: ProcessIdentity;
  readonly guest: SimulatedGuest;
  readonly migrations: SimulatedMigrations;
  readonly #life: Life;
  /** Calls that wait for an answer. */
  readonly #calls = new Set<(error: Error) => void>();
  /** Whether its kubelet has said that it has ended. */
  isReported = false;
  /** When its guest last ran, and when what is in its memory was captured, by {@link CopyWatch.moment}. */
  ranAt = -1;
  capturedAt = Number.POSITIVE_INFINITY;
  readonly #watch: CopyWatch;
  /** Whether a guest was ever here, running or about to run. */
  hasHadGuest = false;

  constructor(options: SmallLauncherOptions) {
    const { node, bootID, pid, podName, podUid, vmiUid, clock, wires, watch } = options;
    this.#life = new Life(podName);
    this.node = node;
    this.podName = podName;
    this.container = { podUid, containerID: `containerd://${pid}` };
    this.process = { pid, startTime: String(pid), bootId: bootID };
    this.#watch = watch;
    const identity = { namespace: "default", name: "demo", vmiUid, podUid };
    // Its timers go with it.
    const time = clock.of(this.#life);
    this.guest = new SimulatedGuest({
      ...{ identity, clock: time, random: new SeededRandom(pid) },
      script: { boot: 0, agent: undefined, shutdown: 2_000, memory: 2 ** 20, prepare: 10 },
    });
    this.migrations = new SimulatedMigrations({
      ...{ guest: this.guest, node, clock: time },
      wires: launcherWires(wires, () => this.hasEnded),
    });
    this.#observe();
  }

  get hasEnded(): boolean {
    return this.#life.isOver;
  }

  get isRunning(): boolean {
    return !this.hasEnded && this.guest.domain.status.state === "Running";
  }

  /** Whether there is a QEMU. */
  get isActive(): boolean {
    return !this.hasEnded && this.guest.domain.isActive;
  }

  /** The guest that the schedule begins with runs here. */
  seat(vmi: VirtualMachineInstance): void {
    const { domain } = this.guest;
    domain.receive(vmi, vmi.spec.domain.firmware?.uuid ?? "");
    domain.adopt({ passed: 60_000, booted: true, agent: false, frozen: false });
    domain.resume();
  }

  /** Its process ends, and its guest with it, whatever the cause. */
  die(): void {
    if (this.hasEnded) return;
    if (this.isRunning) this.ranAt = this.#watch.moment();
    this.#life.isOver = true;
    this.migrations[Symbol.dispose]();
    this.guest[Symbol.dispose]();
    for (const fail of this.#calls) fail(closed());
    this.#calls.clear();
  }

  /** One connection, which ends with the process that made it. */
  connect(life: Life): GuestClient {
    const { guest, migrations } = this;
    if (this.hasEnded) throw new LauncherError("LAUNCHER_CONNECT", "nobody answers");
    const call =
      <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        if (this.hasEnded || life.isOver) throw closed();
        return await new Promise<T>((resolve, reject) => {
          const settle = (act: () => void): void => {
            this.#calls.delete(reject);
            // Nobody is left to receive it.
            if (!life.isOver) act();
          };
          this.#calls.add(reject);
          work(...args).then(
            (answer) => settle(() => resolve(answer)),
            (error) => settle(() => reject(error)),
          );
        });
      };
    return {
      syncVmi: call((request, options) => guest.syncVmi(request, options)),
      shutdown: call((options) => guest.shutdown(options)),
      kill: call((options) => guest.kill(options)),
      // A launcher ends with its guest, even if none has arrived.
      delete: call(async (options) => {
        await guest.delete(options);
        this.die();
      }),
      memoryDump: call((request, options) => guest.memoryDump(request, options)),
      ping: call(async () => {}),
      status: call((options) => guest.status(options)),
      events: (options) => guest.events(options),
      migrate: call((request) => migrations.migrate(request)),
      receiveMigration: call((request) => migrations.receiveMigration(request)),
      followMigration: call((request, options) => migrations.followMigration(request, options)),
      cancelMigration: call((request) => migrations.cancelMigration(request)),
      noteGrant: call((request) => migrations.noteGrant(request)),
      noteClaim: call((request) => migrations.noteClaim(request)),
      close: async () => {},
    };
  }

  /** Reports what the guest does before it does it. */
  #observe(): void {
    const { domain } = this.guest;
    const watch = this.#watch;
    const { resume, suspend, end, capture, adopt } = domain;
    domain.resume = () => {
      if (this.hasEnded) return;
      watch.resumes(this);
      this.hasHadGuest = true;
      resume.call(domain);
    };
    domain.suspend = (reason) => {
      if (this.isRunning) this.ranAt = watch.moment();
      suspend.call(domain, reason);
    };
    domain.end = (reason) => {
      if (this.isRunning) this.ranAt = watch.moment();
      if (domain.isActive) watch.ends(this, reason);
      end.call(domain, reason);
    };
    domain.capture = () => Object.assign(capture.call(domain), { at: watch.moment() });
    domain.adopt = (memory) => {
      this.capturedAt = (memory as { at?: number }).at ?? Number.POSITIVE_INFINITY;
      adopt.call(domain, memory);
    };
  }
}

function closed(): LauncherError {
  return new LauncherError("LAUNCHER_CLOSED", "the connection is lost");
}
