import type { Clock } from "@virtkit/api/clock";
import type { Random } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type {
  DomainState,
  DomainStatus,
  GuestEvent,
  GuestInterface,
  GuestTold,
} from "@virtkit/domain-manager";
import { disksOf, interfacesOf } from "./guest-devices.ts";
import { GuestFeed } from "./guest-feed.ts";
import type { GuestHappening, GuestScript } from "./guest-script.ts";
import { GuestTime } from "./guest-time.ts";

/** What a domain is made from. */
export interface SimulatedDomainOptions {
  /** For example `namespace_name`. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly script: GuestScript;
  /** The time of events, as an ISO date. */
  readonly now: () => string;
}

type Happened = GuestEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, "at">
    : never
  : never;
type Stage = Extract<GuestEvent, { kind: "stage" }>["stage"];

/** What libvirt knows of a guest. */
interface Known {
  readonly uuid: string;
  readonly state: DomainState;
  readonly reason: string;
  readonly disks: DomainStatus["disks"];
  readonly interfaces: readonly GuestInterface[];
}

/** What moves with a guest: what it has in its memory. */
export interface GuestMemory {
  /** Milliseconds of its time since it booted. */
  readonly passed: number;
  readonly booted: boolean;
  readonly agent: boolean;
  readonly frozen: boolean;
}

/** Why a guest is paused. */
export type PauseReason = "User" | "Dump" | "IOError" | "Migration" | "Postcopy" | "PostcopyFailed";

const inactive: readonly DomainState[] = ["Absent", "Shutoff", "Crashed"];
/** Milliseconds between two questions to the agent whether file systems are frozen. */
const freezePoll = 5_000;

/** What libvirt and QEMU do for one guest, and what the guest does by itself. */
export class SimulatedDomain {
  readonly #options: SimulatedDomainOptions;
  readonly #time: GuestTime;
  readonly #feed = new GuestFeed();
  /** Stages of this run that have been reported. */
  readonly #told = new Set<Stage>();
  #known: Known | undefined;
  #status: DomainStatus;
  #answers: GuestTold = {};
  #booted = false;
  #obeying = false;
  #agent = false;
  #frozen = false;
  #poll: unknown;

  constructor(options: SimulatedDomainOptions) {
    this.#options = options;
    this.#time = new GuestTime(options.clock);
    this.#status = this.#currentStatus();
  }

  get status(): DomainStatus {
    return this.#status;
  }

  /** Whether there is a QEMU, vCPUs running or not. */
  get isActive(): boolean {
    return !inactive.includes(this.#status.state);
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  /** Whether it was defined and has not run yet. */
  get isNew(): boolean {
    const { state, reason } = this.#status;
    return state === "Shutoff" && reason === "Unknown";
  }

  events(signal?: AbortSignal): AsyncIterableIterator<GuestEvent> {
    return this.#feed.subscribe(this.#event({ kind: "status", status: this.#status }), signal);
  }

  /** Tells of a stage that is done, once in each run. */
  tellStage(stage: Stage): void {
    if (this.#told.has(stage)) return;
    this.#told.add(stage);
    this.#tell({ kind: "stage", stage, state: "done" });
  }

  /** Gives it the devices that a VMI wants; one that runs gets them plugged in. */
  define(vmi: VirtualMachineInstance): void {
    const { random } = this.#options;
    const { uuid, state, reason, disks = [], interfaces = [] } = this.#known ?? {};
    this.#know({
      uuid: uuid ?? vmi.spec.domain.firmware?.uuid ?? random.uuid(),
      state: state ?? "Shutoff",
      reason: reason ?? "Unknown",
      disks: disksOf(vmi, disks),
      interfaces: interfacesOf(vmi, interfaces, random),
    });
  }

  start({ paused }: { readonly paused: boolean }): void {
    this.#boot();
    if (paused) this.#become("Paused", "User");
    else this.resume();
    this.tellStage("guest-running");
    if (!paused) this.tellStage("ready");
  }

  suspend(reason: PauseReason): void {
    this.#time.stop();
    this.#become("Paused", reason);
  }

  /** Its vCPUs wait for memory that does not come: for libvirt it runs, and nothing happens in it. */
  stall(): void {
    this.#time.stop();
  }

  resume(): void {
    this.#become("Running", "Unknown");
    this.#time.go();
    this.#ask();
  }

  /** What the guest has in its memory now; it is paused. */
  capture(): GuestMemory {
    const { passed } = this.#time;
    return { passed, booted: this.#booted, agent: this.#agent, frozen: this.#frozen };
  }

  /** Makes room for a guest that comes from elsewhere: paused, and without any memory. */
  receive(vmi: VirtualMachineInstance, uuid: string): void {
    this.define(vmi);
    if (this.#known) this.#know({ ...this.#known, uuid, state: "Paused", reason: "Migration" });
  }

  /** Takes over the memory of a guest: it continues from there when it is resumed. */
  adopt({ passed, booted, agent, frozen }: GuestMemory): void {
    this.#halt();
    this.#plan(passed);
    this.#time.set(passed);
    this.#booted = booted;
    this.#agent = agent;
    this.#frozen = frozen;
    this.#learn();
  }

  /** Asks the guest to power off or to reboot. One that has not booted yet ignores it. */
  press(button: "power" | "reboot"): void {
    const { shutdown } = { shutdown: 2_000, ...this.#options.script };
    if (!this.#booted || this.#obeying || shutdown === undefined) return;
    this.#obeying = true;
    this.#time.after(shutdown, () => (button === "power" ? this.end("Shutdown") : this.reset()));
  }

  reset(): void {
    this.#boot();
    this.#learn();
  }

  end(reason: "Shutdown" | "Destroyed" | "Crashed" | "Migrated"): void {
    if (!this.isActive) return;
    this.#halt();
    this.#answers = {};
    this.#become("Shutoff", reason);
    this.#told.clear();
  }

  undefine(): void {
    this.#known = undefined;
    this.#learn();
  }

  /** Stops or continues everything that writes to the guest's file systems. */
  hold(frozen: boolean): void {
    this.#frozen = frozen;
    const { clock, random } = this.#options;
    clock.clearTimeout(this.#poll);
    // It is found out when the agent is asked the next time.
    this.#poll = clock.setTimeout(() => this.#ask(), random.number() * freezePoll);
  }

  /** Makes something happen to it, if it can: only a running guest does anything by itself. */
  happen(what: GuestHappening): void {
    if (what.kind === "events-missed") {
      this.#tell({ kind: "resync" });
      this.#tell({ kind: "status", status: this.#status });
    } else if (what.kind === "qemu-ends") this.end("Crashed");
    else if (what.kind === "destroyed") this.end("Destroyed");
    else if (this.#status.state === "Running") this.#happenInside(what);
  }

  /** Nothing more happens here. */
  vanish(): void {
    this.#halt();
    this.#feed.end();
  }

  #boot(): void {
    this.#halt();
    this.#plan(0);
    if (this.#status.state === "Running") this.#time.go();
  }

  /** What it does by itself after so much of its time. */
  #plan(passed: number): void {
    const { boot = 3_000, agent, happens = [] } = { agent: 5_000, ...this.#options.script };
    const later = (at: number, act: () => void): void => {
      if (at > passed || passed === 0) this.#time.after(at - passed, act);
    };
    later(boot, () => {
      this.#booted = true;
    });
    if (agent !== undefined) later(agent, () => this.#connect(true));
    for (const { after, what } of happens) later(after, () => this.happen(what));
  }

  #happenInside(what: GuestHappening): void {
    switch (what.kind) {
      case "power-off":
        this.end("Shutdown");
        break;
      case "panic":
        this.#incident("GuestPanicked", "the guest's kernel panicked");
        this.end("Crashed");
        break;
      case "io-error":
        this.#incident("IOerror", ioErrorText(what));
        this.suspend("IOError");
        break;
      default:
        this.#connect(what.kind === "agent-started");
    }
  }

  /** What a guest was doing is over; its disks are written to by nobody, so nothing is frozen. */
  #halt(): void {
    this.#time.stop();
    this.#time.clear();
    this.#options.clock.clearTimeout(this.#poll);
    this.#booted = false;
    this.#obeying = false;
    this.#agent = false;
    this.#frozen = false;
  }

  #connect(connected: boolean): void {
    this.#agent = connected;
    this.#learn();
    if (!connected) return;
    this.tellStage("agent-connected");
    this.#ask();
  }

  /** Asks the agent for everything that a status contains from it. */
  #ask(): void {
    if (!this.#agent || this.#status.state !== "Running") return;
    const { os, hostname = "guest", addresses = {} } = this.#options.script;
    this.#answers = {
      ...(os ? { os } : {}),
      hostname,
      timezone: "UTC, 0",
      fsFreeze: this.#frozen ? "frozen" : "thawed",
      agentVersion: "9.2.0",
      interfaces: (this.#known?.interfaces ?? []).map((one) => ({
        ...one,
        ips: addresses[one.name ?? ""] ?? [],
      })),
    };
    this.#learn();
  }

  #become(state: DomainState, reason: string): void {
    if (this.#known) this.#know({ ...this.#known, state, reason });
  }

  #know(known: Known): void {
    this.#known = known;
    this.#learn();
  }

  /** Reports the status if it has changed. */
  #learn(): void {
    const status = this.#currentStatus();
    if (JSON.stringify(status) === JSON.stringify(this.#status)) return;
    this.#status = status;
    this.#tell({ kind: "status", status });
  }

  #currentStatus(): DomainStatus {
    const { name } = this.#options;
    const none = { state: "Absent", reason: "NonExistent", interfaces: [], disks: [] } as const;
    if (!this.#known) return { name, ...none, agent: "disconnected" };
    const { uuid, state, reason, disks, interfaces } = this.#known;
    const { interfaces: seen = [], ...system } = this.#answers;
    return {
      name,
      uuid,
      state,
      reason,
      agent: this.#agent ? "connected" : "disconnected",
      interfaces: interfaces.map(
        (one) => seen.find(({ name: seenName }) => seenName === one.name) ?? one,
      ),
      disks,
      hardware: { emulated: true, acpi: true },
      ...system,
    };
  }

  #incident(reason: "IOerror" | "GuestPanicked", message: string): void {
    this.#tell({ kind: "incident", reason, message });
  }

  #tell(happened: Happened): void {
    this.#feed.tell(this.#event(happened));
  }

  #event(happened: Happened): GuestEvent {
    return { at: this.#options.now(), ...happened } as GuestEvent;
  }
}

function ioErrorText({ volume, reason }: Extract<GuestHappening, { kind: "io-error" }>): string {
  return reason === "enospc"
    ? `the guest is paused: no space is left for volume ${volume}; make room and unpause`
    : `the guest is paused: volume ${volume} failed; repair it and unpause`;
}
