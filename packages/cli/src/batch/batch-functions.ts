import type { BatchArea } from "./batch-area.ts";

/** Every function of `virtkit batch`, by the area that it belongs to. */
export const batchAreas: Readonly<Record<string, BatchArea>> = {
  admission: {
    functions: ["admit"],
    load: () => import("./admission.ts"),
  },
  defaulting: {
    functions: ["mutate"],
    load: () => import("./defaulting.ts"),
  },
  migration: {
    functions: ["evictionDecision", "migrationPolicyAdmission", "podEviction"],
    load: () => import("./migration-admission.ts"),
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
