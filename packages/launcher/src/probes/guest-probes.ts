import type { Clock } from "@virtkit/api/clock";
import type { Log, Metrics } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";
import type { CheckedGuest } from "./check-guest.ts";
import type { ProbePlans } from "./plan-probes.ts";
import type { ProbeState } from "./probe-state.ts";

/** What {@link GuestProbes} needs. */
export interface GuestProbesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}

const kinds = ["readiness", "liveness"] as const;
type Kind = (typeof kinds)[number];

interface Code {
  readonly probe: typeof import("./prober.ts").probe;
  readonly checkGuest: typeof import("./check-guest.ts").checkGuest;
}

/** The probes of one guest, from its start to its end. Costs nothing for a VMI without any. */
export class GuestProbes implements Disposable {
  readonly #options: GuestProbesOptions;
  readonly #stop = new AbortController();
  readonly #status: Partial<Record<Kind, ProbeState>> = {};
  #plans: ProbePlans | undefined;
  #code: Code | undefined;
  #isStarted = false;
  #fail: (message: string) => void = () => {};
  /** Resolves with the reason once the liveness probe has failed. */
  readonly failed: Promise<string>;

  constructor(options: GuestProbesOptions) {
    this.#options = options;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** What the probes have found; undefined for a VMI that has none. */
  get status(): DomainStatus["probes"] {
    const found = kinds.flatMap((kind) => {
      const { state, message } = this.#status[kind] ?? {};
      return state ? [[kind, { state, ...(message ? { message } : {}) }] as const] : [];
    });
    return found.length > 0 ? Object.fromEntries(found) : undefined;
  }

  /** Reads the probes of a VMI before its guest starts; they do not change while it runs. */
  async plan(vmi: VirtualMachineInstance): Promise<void> {
    if (this.#plans || !(vmi.spec.readinessProbe || vmi.spec.livenessProbe)) return;
    // Loaded on use: most guests have none.
    const [{ planProbes }, { probe }, { checkGuest }] = await Promise.all([
      import("./plan-probes.ts"),
      import("./prober.ts"),
      import("./check-guest.ts"),
    ]);
    this.#code = { probe, checkGuest };
    this.#plans = planProbes(vmi);
    for (const { message } of this.#plans.faults) this.#options.log.warn(message);
    for (const kind of kinds) {
      if (this.#plans[kind]) this.#status[kind] = { state: "pending", streak: 0 };
    }
  }

  /** Begins to check a guest that has started. Does nothing the second time. */
  start(guest: CheckedGuest, onChange: () => void): void {
    if (this.#isStarted || !this.#plans) return;
    this.#isStarted = true;
    for (const kind of kinds) void this.#run(kind, guest, onChange);
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #run(kind: Kind, guest: CheckedGuest, onChange: () => void): Promise<void> {
    const plan = this.#plans?.[kind];
    if (!plan || !this.#code) return;
    const { clock, log, metrics } = this.#options;
    const { probe, checkGuest } = this.#code;
    await probe(plan, {
      check: (options) => checkGuest(guest, plan, options),
      onCheck: (ok, seconds) => {
        const labels = { probe: kind, outcome: ok ? "passed" : "failed" };
        metrics?.count("probe_checks", labels);
        metrics?.observe("probe_check_seconds", seconds, labels);
      },
      onState: (state) => {
        const changed = this.#status[kind]?.state !== state.state;
        this.#status[kind] = state;
        if (!changed) return;
        log.info({ why: state.message }, `the ${kind} probe is ${state.state}`);
        onChange();
        if (kind === "liveness" && state.state === "failing") {
          this.#stop.abort();
          this.#fail(state.message ?? "");
        }
      },
      clock,
      signal: this.#stop.signal,
    });
  }
}
