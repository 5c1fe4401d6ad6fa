import type { Clock } from "@virtkit/api/clock";
import type { ContainerScript } from "./container-script.ts";
import type { ContainerStatus, SimulatedContainer } from "./core-resources.ts";

/** What a container knows about its surroundings. */
export interface ContainerWorld {
  readonly clock: Clock;
  readonly script: ContainerScript;
  readonly timestamp: () => string;
  /** A new ID, as a runtime makes it. */
  readonly newId: () => string;
  readonly restarts: boolean | "on-failure";
  /** Called after each change. */
  readonly changed: () => void;
}

type State =
  | { readonly kind: "waiting"; readonly reason: string }
  | { readonly kind: "running"; readonly since: string; readonly ready: boolean }
  | {
      readonly kind: "ended";
      readonly exitCode: number;
      readonly reason: string;
      readonly at: string;
    };

/** One container on a simulated node: pulled, started, ready, ended, maybe started again. */
export class ContainerRun {
  readonly #world: ContainerWorld;
  readonly #container: SimulatedContainer;
  readonly #timers = new Set<unknown>();
  #state: State = { kind: "waiting", reason: "ContainerCreating" };
  #last: State | undefined;
  #id: string | undefined;
  #restarts = 0;
  #stopping = false;
  /** The program of this life, if it has one. */
  #process: { readonly told: AbortController; readonly over: AbortController } | undefined;

  constructor(container: SimulatedContainer, world: ContainerWorld) {
    this.#container = container;
    this.#world = world;
  }

  get isReady(): boolean {
    return this.#state.kind === "running" && this.#state.ready;
  }

  get isRunning(): boolean {
    return this.#state.kind === "running";
  }

  /** The code of a container that has ended and is not started again. */
  get exitCode(): number | undefined {
    return this.#state.kind === "ended" && this.#timers.size === 0
      ? this.#state.exitCode
      : undefined;
  }

  /** The ID of the container that was started last. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Pulls the image and starts. */
  begin(): void {
    const { pull = 200, pullFails, mountFails } = this.#world.script;
    if (mountFails) return;
    this.#after(pull, () => {
      if (pullFails) this.#change({ kind: "waiting", reason: pullFails });
      else this.#start();
    });
  }

  /** Sends SIGTERM; after the grace period SIGKILL. */
  stop(graceMilliseconds: number): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#clear();
    if (this.#state.kind !== "running") return;
    const { stop = 100, exitCode = 0, program } = this.#world.script;
    const killed = program !== undefined || stop > graceMilliseconds;
    const after = program ? graceMilliseconds : Math.min(stop, graceMilliseconds);
    this.#after(after, () => this.#end(killed ? 137 : exitCode));
    this.#process?.told.abort();
  }

  /** Ends it at once from outside, as the kernel or an operator does. */
  kill(exitCode = 137): void {
    if (this.#state.kind === "running") this.#end(exitCode);
  }

  /** The host has lost its power: nothing more happens here. */
  vanish(): void {
    this.#stopping = true;
    this.#clear();
    this.#process?.over.abort();
  }

  status(): ContainerStatus {
    const { name, image = "" } = this.#container;
    const running = this.#state.kind === "running";
    return {
      name,
      image,
      imageID: image === "" ? "" : `sim://${image}`,
      ready: this.isReady,
      started: running,
      restartCount: this.#restarts,
      ...(this.#id ? { containerID: this.#id } : {}),
      state: stateOf(this.#state, this.#id),
      ...(this.#last ? { lastState: stateOf(this.#last, this.#id) } : {}),
    };
  }

  #start(): void {
    const { ready = 100, ends, exitCode = 0, program } = this.#world.script;
    const id = this.#world.newId();
    this.#id = id;
    const since = this.#world.timestamp();
    this.#change({ kind: "running", since, ready: false });
    this.#after(ready, () => this.#change({ kind: "running", since, ready: true }));
    if (program) this.#run(id, program);
    else if (ends !== undefined) this.#after(ends, () => this.#end(exitCode));
  }

  #run(id: string, program: NonNullable<ContainerScript["program"]>): void {
    const life = { told: new AbortController(), over: new AbortController() };
    this.#process = life;
    const exit = (code: number): void => {
      if (!life.over.signal.aborted) this.#end(code);
    };
    program({ id, told: life.told.signal, over: life.over.signal, exit });
  }

  #end(exitCode: number): void {
    this.#clear();
    this.#process?.over.abort();
    const at = this.#world.timestamp();
    const reason = exitCode === 0 ? "Completed" : "Error";
    const ended: State = { kind: "ended", exitCode, reason, at };
    const { restarts } = this.#world;
    const again = restarts === "on-failure" ? exitCode !== 0 : restarts;
    if (!again || this.#stopping) {
      this.#change(ended);
      return;
    }
    this.#last = ended;
    const delay = Math.min(300_000, 10_000 * 2 ** this.#restarts);
    const soon = this.#restarts === 0;
    this.#restarts++;
    this.#after(soon ? 1000 : delay, () => this.#start());
    this.#change(soon ? ended : { kind: "waiting", reason: "CrashLoopBackOff" });
  }

  #change(state: State): void {
    this.#state = state;
    this.#world.changed();
  }

  #after(milliseconds: number, act: () => void): void {
    const timer = this.#world.clock.setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, milliseconds);
    this.#timers.add(timer);
  }

  #clear(): void {
    for (const timer of this.#timers) this.#world.clock.clearTimeout(timer);
    this.#timers.clear();
  }
}

function stateOf(state: State, containerID: string | undefined): Readonly<Record<string, unknown>> {
  if (state.kind === "waiting") return { waiting: { reason: state.reason } };
  if (state.kind === "running") return { running: { startedAt: state.since } };
  const { exitCode, reason, at } = state;
  return {
    terminated: { exitCode, reason, finishedAt: at, ...(containerID ? { containerID } : {}) },
  };
}
