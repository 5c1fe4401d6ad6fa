import { realClock } from "@virtkit/api/clock";
import { firstStuck } from "./first-stuck.ts";
import { type Codec, jsonCodec, type Model, type StepKind } from "./model.ts";
import { NumberList, StateTable } from "./state-table.ts";
import { type Trace, traceTo } from "./trace.ts";

/** Limits of a search. */
export interface ExploreOptions {
  /** The search is given up beyond this many states. Default: 5 million. */
  readonly mostStates?: number;
  /** Whether to look for states without a way to a good end. Default: true if the model names ends. */
  readonly progress?: boolean;
  /** Called now and then with its progress. */
  readonly onProgress?: (states: number) => void;
  /** Milliseconds. Default: the system's clock. */
  readonly now?: () => number;
}

/** What went wrong, and the shortest way to it. */
export interface Violation<State> {
  /** Name of the invariant; `progress` if no good end can be reached. */
  readonly rule: string;
  readonly message: string;
  readonly trace: Trace<State>;
}

/** The result of a search. */
export interface Exploration<State> {
  /** Whether every reachable state was looked at. */
  readonly exhausted: boolean;
  readonly states: number;
  readonly transitions: number;
  /** Steps on the longest of the shortest ways. */
  readonly depth: number;
  readonly milliseconds: number;
  /** How often each step was taken. */
  readonly steps: ReadonlyMap<string, { readonly kind: StepKind; readonly count: number }>;
  /** How many states each good end has. */
  readonly ends: ReadonlyMap<string, number>;
  readonly violation?: Violation<State>;
}

/**
 * Visits every state that a model can reach, the nearest first, and stops at the first one that breaks an
 * invariant. If none does, it looks for a state from which no fair run leads to a good end.
 *
 * @throws Error if the model has no initial state.
 */
export function explore<State>(
  model: Model<State>,
  { mostStates = 5_000_000, progress = true, onProgress, now = realClock.now }: ExploreOptions = {},
): Exploration<State> {
  if (model.initial.length === 0)
    throw new Error("model.initial is empty; give at least one state");
  const start = now();
  const search = new Search(model, progress && model.end !== undefined);
  const found = search.run(mostStates, onProgress);
  const violation = found.violation ?? (found.exhausted ? search.stuck() : undefined);
  return {
    exhausted: found.exhausted && found.violation === undefined,
    states: search.table.size,
    transitions: search.transitions,
    depth: search.depth,
    milliseconds: now() - start,
    steps: search.steps,
    ends: search.ends,
    ...(violation && { violation }),
  };
}

class Search<State> {
  readonly #model: Model<State>;
  readonly #codec: Codec<State>;
  readonly #keepsEdges: boolean;
  readonly #scratch: Uint8Array;
  readonly table: StateTable;
  /** Number of the state that each was first reached from; -1 of an initial one. */
  readonly #parents = new NumberList();
  /** Where the fair steps of each state begin in `#edges`. */
  readonly #firstEdge = new NumberList();
  readonly #edges = new NumberList();
  /** 1 for each state that is a good end. */
  readonly #isEnd = new NumberList();
  readonly steps = new Map<string, { kind: StepKind; count: number }>();
  readonly ends = new Map<string, number>();
  transitions = 0;
  depth = 0;

  constructor(model: Model<State>, keepsEdges: boolean) {
    this.#model = model;
    this.#codec = model.codec ?? jsonCodec();
    this.#keepsEdges = keepsEdges;
    this.#scratch = new Uint8Array(this.#codec.width);
    this.table = new StateTable(this.#codec.width);
  }

  run(
    mostStates: number,
    onProgress: ((states: number) => void) | undefined,
  ): { exhausted: boolean; violation?: Violation<State> } {
    for (const state of this.#model.initial) this.#add(state, -1);
    let levelEnd = this.table.size;
    for (let number = 0; number < this.table.size; number++) {
      if (number === levelEnd) {
        this.depth++;
        levelEnd = this.table.size;
      }
      if (onProgress && (number & 0xfffff) === 0xfffff) onProgress(this.table.size);
      const violation = this.#visit(number);
      if (violation) return { exhausted: false, violation };
      if (this.table.size > mostStates) return { exhausted: false };
    }
    return { exhausted: true };
  }

  /** The nearest state from which no fair steps lead to a good end. */
  stuck(): Violation<State> | undefined {
    if (!this.#keepsEdges) return undefined;
    const { size } = this.table;
    const stuck = firstStuck(
      size,
      this.#firstEdge,
      this.#edges,
      (number) => this.#isEnd.at(number) === 1,
    );
    if (stuck === undefined) return undefined;
    const message = "from here, no run without further faults ends well";
    return { rule: "progress", message, trace: this.#traceTo(stuck) };
  }

  #visit(number: number): Violation<State> | undefined {
    const { invariants = {} } = this.#model;
    const state = this.#codec.read(this.table.bytes(number));
    for (const rule in invariants) {
      const message = invariants[rule]?.(state);
      if (message !== undefined) return { rule, message, trace: this.#traceTo(number) };
    }
    const end = this.#model.end?.(state);
    if (end !== undefined) this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
    if (this.#keepsEdges) {
      this.#isEnd.push(end === undefined ? 0 : 1);
      this.#firstEdge.push(this.#edges.length);
    }
    this.#model.next(state, (step, next, kind = "fair") => {
      this.transitions++;
      this.#count(step, kind);
      const to = this.#add(next, number);
      if (this.#keepsEdges && kind === "fair" && to !== number) this.#edges.push(to);
    });
    return undefined;
  }

  #count(step: string, kind: StepKind): void {
    const known = this.steps.get(step);
    if (known) known.count++;
    else this.steps.set(step, { kind, count: 1 });
  }

  #add(state: State, parent: number): number {
    const { canonical } = this.#model;
    this.#codec.write(canonical ? canonical(state) : state, this.#scratch);
    const number = this.table.add(this.#scratch);
    if (number < 0) return -number - 1;
    this.#parents.push(parent);
    return number;
  }

  #traceTo(number: number): Trace<State> {
    const path: State[] = [];
    for (let at = number; at >= 0; at = this.#parents.at(at)) {
      // A codec may hand out a view of the table: a trace outlives it.
      path.unshift(this.#codec.read(this.table.bytes(at).slice()));
    }
    return traceTo(this.#model, this.#codec, path);
  }
}
