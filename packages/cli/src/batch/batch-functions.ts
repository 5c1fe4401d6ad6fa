import type { BatchArea } from "./batch-area.ts";

/** Every function of `virtkit batch`, by the area that it belongs to. */
export const batchAreas: Readonly<Record<string, BatchArea>> = {
  "launcher-pod": {
    functions: [
      "memoryOverhead",
      "renderHotplugAttachmentPod",
      "renderHotplugAttachmentTriggerPod",
      "renderLaunchManifest",
      "renderLaunchManifestNoVm",
      "renderMigrationManifest",
    ],
    load: () => import("./launcher-pod.ts"),
  },
  migration: {
    functions: [
      "completionTimeout",
      "decentralizedAntiAffinity",
      "evacuationSelect",
      "hostModelNodeSelector",
      "pendingPodTimeouts",
      "priority",
      "requeueDelay",
      "resolveMigrationConfig",
      "targetPodAntiAffinity",
      "targetPodSELinux",
    ],
    load: () => import("./migration.ts"),
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
