/** Takes the states that one step leads to. */
export type Emit<State> = (step: string, next: State, kind?: StepKind) => void;

/**
 * `fair`: a part does its work; a step that stays possible is taken eventually. `fault`: something breaks, or
 * somebody from outside acts; it may happen at any time, but need not.
 */
export type StepKind = "fair" | "fault";

/** Turns states into bytes and back. Equal bytes are equal states. */
export interface Codec<State> {
  /** Bytes of every state. */
  readonly width: number;
  write(state: State, into: Uint8Array): void;
  /** The bytes are those of the explorer: read them, do not keep them. */
  read(bytes: Uint8Array): State;
}

/** Independent parts that share a state. */
export interface Model<State> {
  readonly initial: readonly State[];
  /** Emits every step that some part can do now. It leaves `state` alone. */
  next(state: State, emit: Emit<State>): void;
  /** What must hold in every reachable state: a sentence says what is wrong, undefined that nothing is. */
  readonly invariants?: Readonly<Record<string, (state: State) => string | undefined>>;
  /**
   * Names the good end that a state is; undefined if work is left to do. If the model has this function, fair steps
   * must lead from every reachable state to a good end. Every run in which each step that stays possible is
   * eventually taken then reaches one.
   */
  end?(state: State): string | undefined;
  /**
   * Turns a state into the one that stands for all that differ from it only by the names of equal parts.
   * Sound only if `next`, `invariants` and `end` do not distinguish them.
   */
  canonical?(state: State): State;
  /** By default states are plain JSON values, and each is kept once, as text. */
  readonly codec?: Codec<State>;
  /** One line for a person. Default: JSON. */
  show?(state: State): string;
}

/** States as plain JSON values: good for a few hundred thousand states. Fields must always have the same order. */
export function jsonCodec<State>(): Codec<State> {
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  return {
    width: 4,
    write(state, into) {
      const text = JSON.stringify(state);
      let number = numbers.get(text);
      if (number === undefined) {
        number = texts.push(text) - 1;
        numbers.set(text, number);
      }
      for (let byte = 0; byte < 4; byte++) into[byte] = (number >>> (8 * byte)) & 255;
    },
    read(bytes) {
      let number = 0;
      for (let byte = 3; byte >= 0; byte--) number = number * 256 + (bytes[byte] ?? 0);
      return JSON.parse(texts[number] ?? "null") as State;
    },
  };
}
