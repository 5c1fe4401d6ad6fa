import type { BatchArea } from "./batch-area.ts";

/** Every function of `virtkit batch`, by the area that it belongs to. */
export const batchAreas: Readonly<Record<string, BatchArea>> = {
  host: {
    functions: [
      "cgroup-default-rules",
      "cgroup-manager-path",
      "cgroup-misc-capacity",
      "cgroup-v1-set",
      "cgroup-v2-set",
      "cgroup-vmi-rules",
      "mounts-filter",
      "seccomp-profile",
      "selinux-present",
    ],
    load: () => import("./host.ts"),
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
