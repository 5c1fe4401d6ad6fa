import { expect, test } from "vitest";
import {
  admit,
  admitMigrationPolicy,
  admitPodEviction,
  evictionDecision,
  mutate,
} from "./admission/index.ts";
import { isApiError } from "./api-error.ts";
import { clusterConfig } from "./config/index.ts";
import {
  defaultVirtualMachine,
  defaultVirtualMachineInstance,
  defaultVirtualMachineInstanceMigration,
} from "./defaults/index.ts";
import {
  applyInstancetype,
  matcherAnnotations,
  settleMatchers,
  spreadProblem,
  unmetRequirement,
} from "./instancetype/index.ts";
import {
  defaultNetwork,
  interfaceStatuses,
  livePodAnnotations,
  networkMigrationObstacle,
  networkMigrationRequirement,
  networkRestartRequired,
  podAnnotations,
  syncVmNetworks,
  targetPodAnnotations,
} from "./network/index.ts";
import {
  isRestartRequired,
  planRunStrategy,
  planVmStatus,
  printableStatus,
  restartRequiredConditions,
  startFailureOf,
} from "./status/index.ts";
import {
  planMemoryDump,
  planMigrate,
  planRemoveMemoryDump,
  planRestart,
  planStart,
  planStop,
  planVmiVolume,
  planVmVolume,
  vmiPreconditions,
  vmiSubresourceObstacle,
} from "./status/subresources/index.ts";
import { firstOpenHandoff, handoffs } from "./timeline/index.ts";

/** Objects that use much of what the functions read. */
const whole = {
  vm: {
    metadata: {
      name: "vm",
      namespace: "ns",
      uid: "u",
      generation: 1,
      labels: { a: "b" },
      annotations: { "kubevirt.io/restore-run-strategy": "Always" },
    },
    spec: {
      runStrategy: "Always",
      updateVolumesStrategy: "Migration",
      instancetype: { name: "i", inferFromVolume: "v" },
      preference: { name: "p", kind: "VirtualMachinePreference" },
      dataVolumeTemplates: [
        { metadata: { name: "d" }, spec: { source: { pvc: { name: "g" } }, storage: {} } },
      ],
      template: {
        metadata: { labels: { a: "b" }, annotations: { a: "b" }, finalizers: ["f"] },
        spec: {
          nodeSelector: { a: "b" },
          domain: {
            cpu: { sockets: 1, features: [{ name: "f" }] },
            memory: { guest: "1Gi" },
            resources: { requests: { memory: "1Gi" } },
            firmware: { bootloader: { efi: {} } },
            features: { hyperv: {} },
            clock: { utc: {} },
            devices: {
              disks: [{ name: "v", disk: { bus: "scsi" } }],
              interfaces: [
                { name: "default", masquerade: {} },
                { name: "red", bridge: {}, state: "absent" },
              ],
              inputs: [{ name: "i", type: "tablet" }],
            },
          },
          networks: [
            { name: "default", pod: {} },
            { name: "red", multus: { networkName: "ns/red" } },
          ],
          volumes: [{ name: "v", dataVolume: { name: "d", hotpluggable: true } }],
        },
      },
    },
    status: {
      conditions: [{ type: "RestartRequired", status: "True" }],
      stateChangeRequests: [{ action: "Stop", uid: "w" }],
      startFailure: { consecutiveFailCount: 1, retryAfterTimestamp: "2020-01-01T00:00:00Z" },
      volumeRequests: [{ addVolumeOptions: { name: "v" } }],
      memoryDumpRequest: { claimName: "v", phase: "InProgress" },
      changedBlockTracking: { state: "Enabled" },
      volumeUpdateState: {
        volumeMigrationState: {
          migratedVolumes: [{ volumeName: "v", sourcePVCInfo: { claimName: "o" } }],
        },
      },
    },
  },
  vmi: {
    metadata: {
      name: "vm",
      namespace: "ns",
      uid: "w",
      annotations: { "kubevirt.io/vm-generation": "1" },
      finalizers: ["kubevirt.io/virtualMachineControllerFinalize"],
    },
    spec: {
      domain: {
        devices: {
          interfaces: [
            { name: "default", masquerade: {} },
            { name: "red", binding: { name: "plug" } },
          ],
        },
      },
      networks: [
        { name: "default", pod: {} },
        { name: "red", multus: { networkName: "red" } },
      ],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }],
    },
    status: {
      phase: "Running",
      conditions: [
        { type: "Ready", status: "False", reason: "GuestNotRunning" },
        { type: "MigrationRequired", status: "False" },
      ],
      interfaces: [{ name: "red", podInterfaceName: "net1", infoSource: "domain, multus-status" }],
      phaseTransitionTimestamps: [
        { phase: "Running", phaseTransitionTimestamp: "2026-01-01T00:00:00Z" },
      ],
      migrationState: { startTimestamp: "2026-01-01T00:00:00Z", sourceState: {}, targetState: {} },
      volumeStatus: [
        { name: "v", memoryDumpVolume: { claimName: "v" }, phase: "MemoryDumpCompleted" },
      ],
    },
  },
  pod: {
    metadata: {
      name: "p",
      labels: { "kubevirt.io/created-by": "w", "kubevirt.io": "virt-launcher" },
      annotations: {
        "kubevirt.io/domain": "vm",
        "k8s.v1.cni.cncf.io/network-status": '[{"interface":"net1","name":"ns/red"}]',
      },
    },
    spec: { nodeName: "n" },
    status: {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False" }],
      containerStatuses: [{ name: "compute", state: { waiting: { reason: "ErrImagePull" } } }],
    },
  },
  request: {
    kind: "VirtualMachineInstance",
    operation: "UPDATE",
    namespace: "ns",
    name: "p",
    username: "u",
    userExtra: { "authentication.kubernetes.io/node-name": ["a"] },
    object: { metadata: { name: "p" }, spec: { vmiName: "vm", domain: { devices: {} } } },
    oldObject: { metadata: { name: "p" }, spec: { vmiName: "vm", domain: { devices: {} } } },
  },
  events: [
    {
      reason: "FailedCreate",
      message: "exceeded quota: a, b",
      involvedObject: { kind: "VirtualMachineInstance", name: "vm" },
    },
  ],
  trace: [{ stage: "network-bound", at: "x" }],
  instancetype: {
    cpu: { guest: 2 },
    memory: { guest: "1Gi", overcommitPercent: 10 },
    annotations: { a: "b" },
    gpus: [{ name: "g" }],
  },
  preference: {
    cpu: {
      preferredCPUTopology: "spread",
      spreadOptions: { across: "SocketsCores", ratio: 2 },
      preferredCPUFeatures: [{ name: "f" }],
    },
    devices: {
      preferredDiskBus: "virtio",
      preferredInputBus: "usb",
      preferredPanicDeviceModel: "isa",
      preferredInterfaceMasquerade: {},
    },
    firmware: { preferredUseSecureBoot: true },
    features: { preferredHyperv: { relaxed: {} } },
    clock: { preferredClockOffset: { utc: {} } },
    requirements: { cpu: { guest: 1 }, memory: { guest: "1Gi" }, architecture: "amd64" },
    volumes: { preferredStorageClassName: "s" },
  },
  dataVolumes: [
    {
      metadata: { name: "d", namespace: "ns" },
      status: {
        phase: "Pending",
        conditions: [{ type: "Bound", status: "False", reason: "ErrExceededQuota" }],
      },
    },
  ],
  claims: [{ metadata: { name: "d", namespace: "ns" }, status: { phase: "Bound" } }],
  options: {
    name: "x",
    disk: { name: "x" },
    volumeSource: { dataVolume: { name: "y" } },
    dryRun: ["All"],
    gracePeriod: 1,
  },
};

type World = { [K in keyof typeof whole]: never };

const config = clusterConfig({
  network: { binding: { plug: {} } },
  developerConfiguration: {
    featureGates: ["IncrementalBackup"],
    disabledFeatureGates: ["PodSecondaryInterfaceNamingUpgrade"],
  },
});
const now = Date.parse("2026-06-01T00:00:00Z");
const gates = { hotplug: true, declarative: true };

/** For functions whose answer cannot be a refusal: their own error is as good. */
function unlessMalformed(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (isApiError(error)) return error.path;
    throw error;
  }
}

/** Every function that takes objects from outside. */
const functions: Readonly<Record<string, (world: World) => unknown>> = {
  podAnnotations: ({ vmi }) => podAnnotations(vmi, config),
  targetPodAnnotations: ({ vmi, pod }) => targetPodAnnotations(vmi, pod, config),
  livePodAnnotations: ({ vmi, pod }) => livePodAnnotations(vmi, pod, config),
  interfaceStatuses: ({ vmi, pod }) => interfaceStatuses(vmi, pod),
  networkMigrationRequirement: ({ vmi, pod }) => networkMigrationRequirement(vmi, pod, now),
  networkMigrationObstacle: ({ vmi }) => networkMigrationObstacle(vmi, config),
  networkRestartRequired: ({ vm, vmi }) => networkRestartRequired(vm, vmi),
  syncVmNetworks: ({ vm, vmi }) => syncVmNetworks(vm, vmi),
  defaultNetwork: ({ vmi }) => defaultNetwork((vmi as { spec?: never } | null)?.spec, config),
  printableStatus: (world) => printableStatus({ ...world, now }),
  planRunStrategy: (world) =>
    ["Always", "RerunOnFailure", "Manual", "Halted", "Once", "WaitAsReceiver"].map((strategy) => [
      planRunStrategy(strategy, { ...world, config, now }),
      planRunStrategy(strategy, { ...world, vmi: undefined, config, now }),
    ]),
  planVmStatus: (world) => planVmStatus({ ...world, config, now, random: () => 0 }),
  startFailureOf: ({ vm, vmi }) => startFailureOf(vm, vmi, { now, random: () => 0 }),
  isRestartRequired: ({ vm, vmi }) => {
    const view = { vm, vmi, startedWith: whole.vm.spec as never, config };
    return [isRestartRequired(view), restartRequiredConditions(view, "t")];
  },
  lifecycle: ({ vm, vmi, options }) =>
    [planStart, planStop, planRestart, planMigrate, planMemoryDump].map((plan) =>
      plan(vm, vmi, (options ?? {}) as never),
    ),
  planRemoveMemoryDump: ({ vm }) => planRemoveMemoryDump(vm),
  volumes: ({ vm, vmi, options }) =>
    [{ add: options }, { remove: options }].map((request) => [
      planVmVolume(vm, request, gates),
      planVmVolume(vm, request, { ...gates, hotplug: false }),
      planVmiVolume(vmi, request, gates),
    ]),
  preconditions: ({ vm, vmi }) =>
    Object.keys(vmiPreconditions).map((name) => vmiSubresourceObstacle(name, { vm, vmi })),
  applyInstancetype: ({ vm, instancetype, preference }) => {
    const spec = (vm as typeof whole.vm | null)?.spec?.template?.spec as never;
    return [
      applyInstancetype({ spec, instancetype, preference }),
      applyInstancetype({ spec, preference }),
      unmetRequirement(instancetype, preference, spec),
      unmetRequirement(undefined, preference, spec),
      spreadProblem(instancetype, preference),
    ];
  },
  matchers: ({ vm, pod, preference }) => [
    matcherAnnotations(vm, config),
    settleMatchers(
      vm,
      vm,
      {
        claim: () => pod,
        dataVolume: () => pod,
        dataSource: () => pod,
        snapshot: () => pod,
        preference: () => preference,
        clusterPreference: () => preference,
        preferenceRevision: () => undefined,
      },
      config,
    ),
  ],
  admission: ({ request }) => [
    ...(["VirtualMachineInstance", "VirtualMachine", "VirtualMachineInstanceMigration"] as const)
      .map((kind) => (request === null ? request : { ...(request as object), kind }) as never)
      .flatMap((asked) => [admit(asked, config), mutate(asked, config)]),
    admitMigrationPolicy(request, config),
  ],
  eviction: ({ request, pod, vmi }) => [
    admitPodEviction(request, config, { pod: () => pod, virtualMachineInstance: () => vmi }),
    unlessMalformed(() => evictionDecision(vmi, config)),
  ],
  defaults: ({ vm, vmi, request }) => [
    unlessMalformed(() => defaultVirtualMachine(vm, config)),
    unlessMalformed(() => defaultVirtualMachineInstance(vmi, config)),
    unlessMalformed(() => defaultVirtualMachineInstanceMigration(request, config)),
  ],
  handoffs: ({ vmi, pod, events, trace }) =>
    firstOpenHandoff(handoffs({ vmi, pod, events, trace })),
};

/** Values that may appear where something else is expected. */
const odd: readonly unknown[] = [
  null,
  0,
  -1,
  1e99,
  "",
  "text",
  "__proto__",
  true,
  false,
  [],
  {},
  [null],
  [[]],
  [1, "a"],
  { name: 5 },
  { toString: 1 },
  { constructor: null },
  Object.create(null),
];

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A copy in which some values, anywhere, are replaced by odd ones. */
function spoil(value: unknown, random: () => number, rate: number): unknown {
  if (random() < rate) return odd[Math.floor(random() * odd.length)];
  if (Array.isArray(value)) return value.map((item) => spoil(item, random, rate));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, spoil(field, random, rate)]),
  );
}

/** The functions that throw under the attack, with the first message of each. */
function failing(
  attacked: Readonly<Record<string, (world: World) => unknown>>,
): Record<string, string> {
  const failures: Record<string, string> = {};
  const random = randomFrom(7);
  for (let round = 0; round < 250; round++) {
    const world = Object.fromEntries(
      Object.entries(whole).map(([key, value]) => [key, spoil(value, random, 0.05)]),
    ) as unknown as World;
    for (const [name, run] of Object.entries(attacked)) {
      if (failures[name]) continue;
      try {
        run(world);
      } catch (error) {
        failures[name] =
          `round ${round}: ${(error as Error).stack?.split("\n").slice(0, 3).join(" ")}`;
      }
    }
  }
  return failures;
}

test("no function throws, whatever the shape of its objects", () => {
  expect(failing(functions)).toEqual({});
});

test("control: the attack finds functions that trust their objects", () => {
  const trusting = {
    readsLists: ({ vm }: World) =>
      (vm as typeof whole.vm).spec.template.spec.volumes.map(({ name }) => name.length),
    readsTexts: ({ pod }: World) => (pod as typeof whole.pod).status.phase.startsWith("P"),
  };
  expect(Object.keys(failing(trusting)).sort()).toEqual(["readsLists", "readsTexts"]);
});

test("arguments are never changed", () => {
  const before = JSON.stringify(whole);
  for (const run of Object.values(functions)) run(whole as unknown as World);
  expect(JSON.stringify(whole)).toBe(before);
});
