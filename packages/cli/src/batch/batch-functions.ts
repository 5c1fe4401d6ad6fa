import type { BatchArea } from "./batch-area.ts";

/** Every function of `virtkit batch`, by the area that it belongs to. */
export const batchAreas: Readonly<Record<string, BatchArea>> = {
  dhcp: {
    functions: [
      "dhcp-config-masquerade",
      "dhcp4-options",
      "dhcp4-reply",
      "dhcp6-reply",
      "resolv-conf",
    ],
    load: () => import("./dhcp.ts"),
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
