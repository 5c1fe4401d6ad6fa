import { at, text } from "@virtkit/api/shape";
import { Choices } from "./choices.ts";
import { faultSteps, userSteps } from "./faults.ts";
import { kubeletSteps, type Step } from "./kubelet-steps.ts";
import { carryOut, noAnswer, type Request } from "./requests.ts";
import { kinds } from "./seen-objects.ts";
import { SmallWorld, type SmallWorldOptions, type WorldStart } from "./small-world.ts";

/** The result of one schedule. */
export interface ScheduleResult {
  readonly seed: number;
  /** Digest of the choices that were made. */
  readonly digest: number;
  readonly choices: number;
  readonly steps: number;
  /** Faults and what users did, each with the phase of the migration and the state of the grant at that time. */
  readonly faults: readonly string[];
  /** Where the guest is in the end. */
  readonly end: string;
  readonly violation?: string;
  /** The last steps before a violation. */
  readonly trace?: readonly string[];
}

/** How schedules are run. */
export interface ScheduleOptions extends Omit<SmallWorldOptions, "seed" | "start"> {
  /** Where it may begin; see `beginWorld`. */
  readonly starts: readonly WorldStart[];
  /** Whether all steps are kept, not only the last ones. */
  readonly isTraced?: boolean;
  /** Looks at the world when the schedule is over. */
  readonly onEnd?: (world: SmallWorld) => void;
}

const mostSteps = 400;
const mostSettling = 6_000;
/** Milliseconds of virtual time after the last fault within which everything must settle. */
const patience = 1_200_000;
/** The most milliseconds that pass before something that is possible happens. */
const moment = 2_000;
/** Steps between two faults, on average. */
const calm = 14;

const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

/** Runs one schedule: who is next, and what goes wrong there, follows from the seed alone. */
export async function runSchedule(
  seed: number,
  { isTraced = false, onEnd, ...options }: ScheduleOptions,
): Promise<ScheduleResult> {
  const run = new ScheduleRun(seed, options, isTraced);
  await run.stir();
  await run.settle();
  onEnd?.(run.world);
  return run.result();
}

/** Repairs everything that is broken, and starts everything that has ended. */
function heal(world: SmallWorld): void {
  while (world.requests.late.length > 0) world.requests.arriveLate(0);
  world.cut.clear();
  world.blind.clear();
  world.isPeerCut = false;
  // Whoever drains a node opens it again some day. Otherwise a guest that is evicted from the other one has nowhere to go.
  for (const { metadata } of world.store.list("nodes")) {
    const body = { spec: { taints: null } };
    world.store.patch("user", "nodes", text(metadata.name), { type: "merge", body });
  }
  for (const { name, isOn, agent } of world.nodes) {
    if (!isOn) world.restorePower(name);
    else if (!agent) world.startAgent(name);
  }
  world.stopController("controller-2");
  if (!world.controllers.has("controller-1")) world.startController("controller-1");
}

class ScheduleRun {
  readonly #seed: number;
  readonly #choices: Choices;
  readonly world: SmallWorld;
  readonly #faults: string[] = [];
  readonly #trace: string[] = [];
  readonly #isTraced: boolean;
  /** Faults that are still to come, and steps before the first of them. */
  #left: number;
  readonly #quiet: number;
  #steps = 0;
  /** By a step's name, when it was last taken. */
  readonly #takenAt = new Map<string, number>();
  #violation: string | undefined;

  constructor(seed: number, { starts, ...options }: ScheduleOptions, isTraced: boolean) {
    this.#seed = seed;
    this.#choices = new Choices(seed);
    this.world = new SmallWorld({ ...options, start: this.#choices.pick(starts), seed });
    this.#isTraced = isTraced;
    this.#left = 1 + this.#choices.below(4);
    this.#quiet = 10 * this.#choices.below(6);
  }

  /** Takes random steps, with faults, until no faults are left. */
  async stir(): Promise<void> {
    await turn();
    const begins = userSteps(this.world).filter(({ name }) =>
      ["migration asked for", "eviction", "drain"].includes(name),
    );
    const isMoving = this.world.store.list("virtualmachineinstancemigrations").length > 0;
    if (!isMoving) this.#do(this.#choices.pick(begins));
    let after = 0;
    while (!this.#violation && this.#steps < mostSteps && after < 2 * calm) {
      if (this.#left === 0) after++;
      if (this.#isStruck()) {
        this.#left--;
        this.#strike(this.#choices.pick(faultSteps(this.world, this.#choices)));
      } else {
        const steps = this.#possible();
        this.#do(this.#choices.pick(steps));
      }
      await turn();
      this.#check();
    }
  }

  /** Without further faults, the world must settle. */
  async settle(): Promise<void> {
    const { world } = this;
    heal(world);
    await turn();
    const begun = this.#steps;
    const until = world.clock.now() + patience;
    while (!this.#violation) {
      const steps = this.#possible();
      const isQuiet = steps.length === 1 && steps[0]?.name === "time";
      const first = this.#longestAgo(steps);
      const open = isQuiet ? world.promises.open() : "not quiet";
      if (open === undefined) return;
      if (!first || world.clock.now() > until || this.#steps - begun > mostSettling) {
        this.#violation = `it does not settle: ${open}`;
        return;
      }
      this.#do(first);
      await turn();
      this.#check();
    }
  }

  /** The step that was taken longest ago, so that nobody waits forever. */
  #longestAgo(steps: readonly Step[]): Step | undefined {
    const [first, ...others] = steps;
    const takenAt = ({ name }: Step): number => this.#takenAt.get(name) ?? 0;
    return others.reduce(
      (one, other) => (takenAt(other) < takenAt(one) ? other : one),
      first as Step,
    );
  }

  result(): ScheduleResult {
    const { vmi, launchers } = this.world;
    const running = launchers.find(({ isRunning }) => isRunning);
    const end = running
      ? `runs on ${running.node}`
      : `does not run, VMI ${vmi?.status?.phase ?? "gone"}`;
    return {
      ...{ seed: this.#seed, digest: this.#choices.digest, steps: this.#steps, end },
      choices: this.#choices.count,
      faults: this.#faults,
      ...(this.#violation ? { violation: this.#violation, trace: this.#trace } : {}),
      ...(this.#isTraced ? { trace: this.#trace } : {}),
    };
  }

  #isStruck(): boolean {
    return this.#left > 0 && this.#steps >= this.#quiet && this.#choices.once(calm);
  }

  #check(): void {
    this.#violation ??= this.world.promises.broken;
  }

  #do(step: Step): void {
    this.#steps++;
    this.#takenAt.set(step.name, this.#steps);
    this.#note(step.name);
    step.take();
  }

  #strike(step: Step): void {
    this.#faults.push(`${step.name} | ${this.#phase} | ${this.world.grant?.state ?? "none"}`);
    this.#do(step);
  }

  get #phase(): string {
    const all = this.world.store.list("virtualmachineinstancemigrations");
    const last = all.at(-1);
    return last ? text(at(last, "status", "phase")) || "new" : "none";
  }

  #note(line: string): void {
    const { clock } = this.world;
    if (this.#isTraced) this.#trace.push(`${(clock.now() / 1000).toFixed(3)} s  ${line}`);
  }

  /** Everything that can happen next; the passing of time comes last. */
  #possible(): readonly Step[] {
    const world = this.world;
    const { requests, clock } = world;
    const steps: Step[] = [];
    for (const [index, request] of requests.open.entries()) {
      steps.push({
        name: `${request.life.owner}: ${request.what}`,
        take: () => this.#answer(requests.take(index)),
      });
    }
    for (const index of requests.late.keys()) {
      steps.push({ name: "a late write arrives", take: () => requests.arriveLate(index) });
    }
    for (const process of world.processes) {
      const { life } = process;
      if (world.blind.has(life.owner) || !world.isConnected(life)) continue;
      for (const kind of kinds) {
        if (!process.isBehind(kind)) continue;
        steps.push({ name: `${life.owner} sees ${kind}`, take: () => process.see(kind) });
      }
    }
    steps.push(...kubeletSteps(world));
    // Whoever can act does so before much time passes.
    if (steps.length === 0 || clock.untilNext <= moment) {
      steps.push({ name: "time", take: () => void clock.fireNext() });
    }
    return steps;
  }

  /** Answers a request: usually by doing what it asks for. */
  #answer(request: Request): void {
    const world = this.world;
    if (request.kind !== "own" && !world.isConnected(request.life)) {
      request.reject(noAnswer());
      return;
    }
    if (!this.#isStruck()) {
      carryOut(request);
      return;
    }
    this.#left--;
    const { owner } = request.life;
    const who = owner.startsWith("agent") ? "agent" : "controller";
    const all: Step[] = [
      { name: `${who} crashes before ${request.kind}`, take: () => this.#kill(owner) },
      {
        name: `${who} crashes after ${request.kind}`,
        take: () => {
          carryOut(request);
          this.#kill(owner);
        },
      },
    ];
    if (request.kind !== "own") {
      all.push({ name: `${request.kind} is lost`, take: () => request.reject(noAnswer()) });
    }
    if (request.kind === "write") {
      all.push({
        name: "answer to write is lost",
        take: () => {
          carryOut({ ...request, resolve: () => {}, reject: () => {} });
          request.reject(noAnswer());
        },
      });
      all.push({
        name: "write is late",
        take: () => {
          world.requests.late.push(request.act);
          request.reject(noAnswer());
        },
      });
    }
    this.#strike(this.#choices.pick(all));
  }

  #kill(owner: string): void {
    const world = this.world;
    const node = world.nodes.find(({ name }) => owner === `agent of ${name}`);
    if (!node) {
      world.stopController(owner);
      world.clock.setTimeout(() => world.startController(owner), 1_000);
      return;
    }
    world.stopAgent(node.name);
    world.clock.setTimeout(() => {
      if (node.isOn && !node.agent) world.startAgent(node.name);
    }, 1_000);
  }
}
