import type { BatchArea } from "./batch-area.ts";

/** Every function of `virtkit batch`, by the area that it belongs to. */
export const batchAreas: Readonly<Record<string, BatchArea>> = {
  defaulting: {
    functions: ["mutate"],
    load: () => import("./defaulting.ts"),
  },
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
