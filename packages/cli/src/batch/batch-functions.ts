/** A pure function as `virtkit batch` calls it: plain JSON in, plain JSON out, throws on bad input. */
export type BatchFunction = (input: unknown, context: unknown) => unknown;

/** What the module behind an area exports. */
export interface BatchAreaModule {
  readonly functions: Readonly<Record<string, BatchFunction>>;
}

/** A group of functions that is loaded together, on the first call of one of them. */
export interface BatchArea {
  /** Names of the functions, known before the module is loaded. */
  readonly functions: readonly string[];
  load(): Promise<BatchAreaModule>;
}

/** Every function of `virtkit batch`, by the area that it belongs to. */
export const batchAreas: Readonly<Record<string, BatchArea>> = {
  quantity: {
    functions: [
      "add",
      "cmp",
      "mul",
      "neg",
      "newMilliQuantity",
      "newQuantity",
      "newScaledQuantity",
      "parse",
      "roundUp",
      "scaledValue",
      "sub",
      "unmarshalJSON",
    ],
    load: () => import("./quantity.ts"),
  },
};
