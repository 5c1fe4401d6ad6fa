import { type Codec, jsonCodec, type Model } from "./model.ts";

/** A run from an initial state. */
export interface Trace<State> {
  readonly initial: State;
  readonly steps: readonly { readonly step: string; readonly state: State }[];
}

/** Finds the steps between the states of a path by taking them again. */
export function traceTo<State>(
  model: Model<State>,
  codec: Codec<State>,
  path: readonly State[],
): Trace<State> {
  const [initial, ...rest] = path as [State, ...State[]];
  let from = initial;
  const steps = rest.map((state) => {
    const step = stepBetween(model, codec, from, state);
    from = state;
    return { step, state };
  });
  return { initial, steps };
}

/**
 * Repeats the steps of a trace and returns the state that they lead to.
 *
 * @throws Error if the model has no such step to such a state: the trace belongs to another model.
 */
export function replay<State>(model: Model<State>, trace: Trace<State>): State {
  const codec = model.codec ?? jsonCodec<State>();
  let state = trace.initial;
  for (const [index, { step, state: wanted }] of trace.steps.entries()) {
    if (stepBetween(model, codec, state, wanted, step) !== step) {
      throw new Error(
        `steps[${index}]: the model has no step "${step}" there; check the model's options`,
      );
    }
    state = wanted;
  }
  return state;
}

/** One line per step, with the state beside it if the model can print states. */
export function traceText<State>(model: Model<State>, { initial, steps }: Trace<State>): string {
  const show = model.show ?? ((state: State) => JSON.stringify(state));
  const lines = steps.map(({ step, state }, index) => {
    return `${String(index + 1).padStart(3)}. ${step}\n       ${show(state)}`;
  });
  return [`  0. start\n       ${show(initial)}`, ...lines].join("\n");
}

function stepBetween<State>(
  model: Model<State>,
  codec: Codec<State>,
  from: State,
  to: State,
  wanted?: string,
): string {
  const [goal, scratch] = [new Uint8Array(codec.width), new Uint8Array(codec.width)];
  codec.write(to, goal);
  let found = "";
  model.next(from, (step, next) => {
    if (found !== "" || (wanted !== undefined && step !== wanted)) return;
    codec.write(model.canonical ? model.canonical(next) : next, scratch);
    if (scratch.every((byte, index) => byte === goal[index])) found = step;
  });
  return found;
}
