import type { BatchArea } from "../batch/batch-area.ts";

/** Every function of `virtkit batch`, by the area that it belongs to. */
export const batchAreas: Readonly<Record<string, BatchArea>> = {
  admission: {
    functions: ["admit"],
    load: () => import("./admission.ts"),
  },
  "cloud-init": {
    functions: ["files", "generate"],
    load: () => import("./cloud-init.ts"),
  },
  converter: {
    functions: ["convert", "domain", "launcher"],
    load: () => import("./converter.ts"),
  },
  defaulting: {
    functions: ["mutate"],
    load: () => import("./defaulting.ts"),
  },
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
  "domain-stats": {
    functions: ["domain-metrics"],
    load: () => import("./domain-stats.ts"),
  },
  evacuation: {
    functions: ["reconcile"],
    load: () => import("./evacuation.ts"),
  },
  "guest-agent": {
    functions: ["agent-filesystems", "agent-fsfreeze", "agent-info"],
    load: () => import("./guest-agent.ts"),
  },
  "handler-migration": {
    functions: ["source-pass", "target-pass"],
    load: () => import("./handler-migration.ts"),
  },
  "handler-rest": {
    functions: ["node-request"],
    load: () => import("./handler-rest.ts"),
  },
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
      "evictionDecision",
      "hostModelNodeSelector",
      "migrationPolicyAdmission",
      "pendingPodTimeouts",
      "podEviction",
      "priority",
      "requeueDelay",
      "resolveMigrationConfig",
      "targetPodAntiAffinity",
      "targetPodSELinux",
    ],
    load: async () => {
      const [admission, pods] = await Promise.all([
        import("./migration-admission.ts"),
        import("./migration.ts"),
      ]);
      return { functions: { ...admission.functions, ...pods.functions } };
    },
  },
  "migration-controller": {
    functions: ["reconcile"],
    load: () => import("./migration-controller.ts"),
  },
  "migration-source": {
    functions: [
      "classify-volumes",
      "completion-time",
      "handler-migrate",
      "legacy-convergence",
      "live-migratable",
      "migration-flags",
      "migration-params",
      "migration-result",
      "source-status",
      "stall-detector",
      "start-migration-refused",
    ],
    load: () => import("./migration-source.ts"),
  },
  handler: {
    functions: ["handler-pass"],
    load: () => import("./handler.ts"),
  },
  host: {
    functions: [
      "cgroup-default-rules",
      "cgroup-manager-path",
      "cgroup-misc-capacity",
      "cgroup-v1-set",
      "cgroup-v2-set",
      "cgroup-vmi-rules",
      "memlock-size",
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
  network: {
    functions: [
      "defaultNetwork",
      "migrationRequired",
      "nameScheme",
      "podAnnotations",
      "podAnnotationsFromActivePod",
      "podAnnotationsFromSource",
      "restartRequired",
      "updateVMIStatus",
      "vmSync",
    ],
    accepts: (fn, input) => fn === "restartRequired" && !hasLastSeenSpec(input),
    load: () => import("./network.ts"),
  },
  "node-controller": {
    functions: ["reconcile"],
    load: () => import("./node-controller.ts"),
  },
  "network-wiring": {
    functions: ["wire"],
    load: () => import("./network-wiring.ts"),
  },
  instancetype: {
    functions: [
      "applyToVMI",
      "checkRequirements",
      "checkSpreadTopology",
      "matcherAnnotations",
      "mutateVM",
    ],
    load: () => import("./instancetype.ts"),
  },
  pool: {
    functions: ["reconcile"],
    load: () => import("./pool.ts"),
  },
  replicaset: {
    functions: ["reconcile"],
    load: () => import("./replicaset.ts"),
  },
  subresources: {
    functions: ["subresource-authorize", "subresource-request"],
    load: () => import("./subresources.ts"),
  },
  "workload-updater": {
    functions: ["reconcile"],
    load: () => import("./workload-updater.ts"),
  },
  "vm-controller": {
    functions: ["reconcile"],
    load: () => import("./vm-controller.ts"),
  },
  "vmi-controller": {
    functions: ["reconcile"],
    load: () => import("./vmi-controller.ts"),
  },
  "vm-status": {
    functions: [
      "printableStatus",
      "restartRequired",
      "runStrategy",
      "startBackoff",
      "startFailure",
      "subresource",
      "updateStatus",
    ],
    accepts: (fn, input) => fn === "restartRequired" && hasLastSeenSpec(input),
    load: () => import("./vm-status.ts"),
  },
};

/** A whole VM is compared with its spec as it was last seen; its networks alone with its VMI. */
function hasLastSeenSpec(input: unknown): boolean {
  return Object.hasOwn(Object(input), "lastSeenSpec");
}
