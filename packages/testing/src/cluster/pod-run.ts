import type { Clock } from "@virtkit/api/clock";
import { ContainerRun } from "./container-run.ts";
import type { ContainerScripts } from "./container-script.ts";
import type { PodCondition, SimulatedPod } from "./core-resources.ts";

/** What a Pod on a simulated node knows about its surroundings. */
export interface PodWorld {
  readonly clock: Clock;
  readonly scripts: ContainerScripts;
  readonly timestamp: () => string;
  readonly newId: () => string;
  readonly podIP: string;
  readonly hostIP: string;
  readonly changed: () => void;
}

/** One Pod on a simulated node, from its volumes to its end. */
export class PodRun {
  readonly #world: PodWorld;
  readonly #init: readonly ContainerRun[];
  readonly #containers: readonly ContainerRun[];
  readonly #startTime: string;
  #pod: SimulatedPod;
  #begun = false;
  #stopping = false;

  constructor(pod: SimulatedPod, world: PodWorld) {
    this.#pod = pod;
    this.#world = world;
    this.#startTime = world.timestamp();
    const {
      restartPolicy = "Always",
      initContainers = [],
      containers = [],
    } = pod.spec ?? { containers: [] };
    const restarts =
      restartPolicy === "Always"
        ? true
        : restartPolicy === "OnFailure"
          ? ("on-failure" as const)
          : false;
    const { namespace = "", name = "", uid = "", labels = {}, annotations = {} } = pod.metadata;
    const scripted = { namespace, name, uid, labels, annotations };
    const run = (container: (typeof containers)[number], again: boolean | "on-failure") =>
      new ContainerRun(container, {
        ...world,
        script: world.scripts(scripted, container.name),
        restarts: again,
        changed: () => this.#step(),
      });
    this.#init = initContainers.map((each) => run(each, restarts === false ? false : "on-failure"));
    this.#containers = containers.map((each) => run(each, restarts));
  }

  /** The Pod as the API server has it now. */
  set pod(pod: SimulatedPod) {
    this.#pod = pod;
  }

  get pod(): SimulatedPod {
    return this.#pod;
  }

  /** Whether it was asked to stop and nothing of it runs any more. */
  get isGone(): boolean {
    return this.#stopping && ![...this.#init, ...this.#containers].some((each) => each.isRunning);
  }

  /** The run of a container, for tests that end it. */
  container(name: string): ContainerRun | undefined {
    const index = this.#pod.spec?.containers.findIndex((each) => each.name === name) ?? -1;
    return this.#containers[index];
  }

  begin(): void {
    this.#step();
  }

  stop(graceMilliseconds: number): void {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const each of [...this.#init, ...this.#containers]) each.stop(graceMilliseconds);
    this.#world.changed();
  }

  vanish(): void {
    this.#stopping = true;
    for (const each of [...this.#init, ...this.#containers]) each.vanish();
  }

  /** What the kubelet reports. Conditions that others wrote are kept. */
  status(): NonNullable<SimulatedPod["status"]> {
    const own = this.#conditions();
    const others = (this.#pod.status?.conditions ?? []).filter(
      ({ type }) => !own.some((each) => each.type === type),
    );
    const { podIP, hostIP } = this.#world;
    const running = this.#begun;
    return {
      ...this.#pod.status,
      phase: this.#phase(),
      ...{ startTime: this.#startTime, hostIP },
      ...(running ? { podIP, podIPs: [{ ip: podIP }] } : {}),
      conditions: [...others, ...own],
      ...(this.#init.length > 0
        ? { initContainerStatuses: this.#init.map((each) => each.status()) }
        : {}),
      containerStatuses: this.#containers.map((each) => each.status()),
    };
  }

  /** Starts what can start now: init containers one after the other, then all others. */
  #step(): void {
    if (!this.#stopping) {
      const waiting = this.#init.find((each) => each.exitCode !== 0);
      if (waiting) this.#beginOnce(waiting);
      else for (const each of this.#containers) this.#beginOnce(each);
    }
    this.#world.changed();
  }

  readonly #started = new WeakSet<ContainerRun>();

  #beginOnce(container: ContainerRun): void {
    if (this.#started.has(container)) return;
    this.#started.add(container);
    this.#begun = true;
    container.begin();
  }

  #phase(): string {
    const codes = this.#containers.map((each) => each.exitCode);
    if (this.#init.some((each) => (each.exitCode ?? 0) !== 0)) return "Failed";
    if (codes.length > 0 && codes.every((code) => code !== undefined)) {
      return codes.every((code) => code === 0) ? "Succeeded" : "Failed";
    }
    const known = this.#containers.some((each) => each.id !== undefined);
    return known ? "Running" : "Pending";
  }

  #conditions(): PodCondition[] {
    const ready = this.#containers.every((each) => each.isReady);
    const gates = this.#pod.spec?.readinessGates ?? [];
    const open = gates.every(({ conditionType }) =>
      this.#pod.status?.conditions?.some(
        ({ type, status }) => type === conditionType && status === "True",
      ),
    );
    const initialized = this.#init.every((each) => each.exitCode === 0);
    const ended = this.#phase() === "Succeeded" || this.#phase() === "Failed";
    const unready = ended
      ? { reason: "PodCompleted" }
      : ready
        ? { reason: "ReadinessGatesNotReady" }
        : { reason: "ContainersNotReady" };
    return [
      this.#condition("Initialized", initialized),
      this.#condition(
        "ContainersReady",
        ready,
        ended ? { reason: "PodCompleted" } : { reason: "ContainersNotReady" },
      ),
      this.#condition("Ready", ready && open, unready),
    ];
  }

  #condition(type: string, holds: boolean, otherwise: object = {}): PodCondition {
    const status = holds ? "True" : "False";
    const before = this.#pod.status?.conditions?.find((each) => each.type === type);
    const lastTransitionTime =
      before?.status === status && before.lastTransitionTime
        ? before.lastTransitionTime
        : this.#world.timestamp();
    return { type, status, lastTransitionTime, ...(holds ? {} : otherwise) };
  }
}
