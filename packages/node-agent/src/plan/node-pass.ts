import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { PlannedEvent } from "@virtkit/api/status";
import type { NodePlan, Requeue } from "./node-plan.ts";
import type { NodeStep, StepOutcome } from "./node-step.ts";
import type { NodeDomain, NodeView } from "./node-view.ts";
import type { PassMemory } from "./pass-memory.ts";

type Done = Extract<StepOutcome, { kind: "done" }>;

/** A failed step. Only the planning pass throws and catches it. */
export class StepFailure extends Error {
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** One pass over a VMI: what is known, and what follows so far. */
export class NodePass {
  readonly view: NodeView;
  memory: PassMemory;
  readonly #outcomes: readonly StepOutcome[];
  readonly #steps: NodeStep[] = [];
  readonly #events: PlannedEvent[] = [];
  readonly #requeue: Requeue[] = [];
  #told: NodeDomain | undefined;
  #mounted: readonly string[] | undefined;

  constructor(view: NodeView, outcomes: readonly StepOutcome[]) {
    this.view = view;
    this.memory = view.memory ?? {};
    this.#outcomes = outcomes;
  }

  get vmi(): VirtualMachineInstance | undefined {
    return this.view.vmi;
  }

  /** As last reported by its launcher. */
  get domain(): NodeDomain | undefined {
    return this.#told ?? this.view.domain;
  }

  /** Hotplugged volumes that are in the Pod after the steps so far; undefined if unknown. */
  get mounted(): readonly string[] | undefined {
    return this.#mounted ?? this.view.mountedVolumes;
  }

  /** Of the VMI, or of the one that is gone. */
  get uid(): string {
    return this.vmi ? (this.vmi.metadata?.uid ?? "") : (this.view.uid ?? "");
  }

  /** The time as objects write it. */
  get time(): string {
    return new Date(this.view.now).toISOString().replace(/\.\d+Z$/, "Z");
  }

  /** Plans a step and returns its outcome: success if there is none yet. */
  outcome(step: NodeStep): StepOutcome {
    this.#steps.push(step);
    const outcome = this.#outcomes[this.#steps.length - 1] ?? { kind: "done" };
    this.#mounted = outcome.mounted ?? this.#mounted;
    return outcome;
  }

  /** Plans a step that must succeed for the pass to continue. */
  attempt(step: NodeStep): Done {
    const outcome = this.attemptUnlessLater(step);
    if (outcome.kind === "later") throw failureOf(outcome);
    return outcome;
  }

  /** Plans a step that must not fail for the pass to continue, and need not be done yet. */
  attemptUnlessLater(step: NodeStep): Exclude<StepOutcome, { kind: "failed" }> {
    const outcome = this.outcome(step);
    if (outcome.kind === "failed") throw failureOf(outcome);
    if (outcome.kind === "done") this.#told = outcome.domain ?? this.#told;
    return outcome;
  }

  /** Plans a call after which the launcher may be gone: it ends with its guest. */
  attemptLast(step: NodeStep): void {
    const outcome = this.outcome(step);
    if (outcome.kind === "failed" && outcome.cause !== "lost") throw failureOf(outcome);
  }

  event(type: "Normal" | "Warning", reason: string, message: string): void {
    this.#events.push({ type, reason, message });
  }

  again(requeue: Requeue): void {
    this.#requeue.push(requeue);
  }

  plan(): NodePlan {
    return {
      steps: this.#steps,
      events: this.#events,
      requeue: this.#requeue,
      memory: this.memory,
    };
  }
}

function failureOf(outcome: Exclude<StepOutcome, { kind: "done" }>): StepFailure {
  if (outcome.kind === "later") return new StepFailure("it cannot be done yet");
  return new StepFailure(outcome.message, outcome.isFinal);
}
