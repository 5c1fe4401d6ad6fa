import {
  decodeGrant,
  encodeGrant,
  freeGrant,
  type Grant,
  type GuardName,
  grantAnnotation,
  type Holder,
} from "@virtkit/api/grant";
import { createRules } from "@virtkit/api/grant/checking";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { describe, expect, test } from "vitest";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantView } from "./grant-view.ts";
import { planVmi, type VmiPlan } from "./plan-vmi.ts";
import {
  sampleConfig,
  sampleNow,
  samplePod,
  sampleView,
  sampleVmi,
} from "./testing/sample-view.ts";

const { finalizers, own } = names();
const profile = virtkitLauncherProfile({ image: "launcher:1" });
const [proofFinalizer = ""] = profile.finalizers;
const config = { ...sampleConfig, profile };

const holder: Holder = {
  podUID: "pod-uid",
  containerID: "containerd://1",
  node: "n1",
  machineID: "m1",
  bootID: "b1",
  nonce: "x",
};
/** A VMI of the same name that is gone. */
const earlierOwner = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  name: "vm",
  uid: "earlier-uid",
  controller: true,
};
const counted = { vmiUID: "vmi-uid", epoch: 1, seq: 3 };
const claimed: Grant = { ...counted, state: "Claimed", holder };
const ended: Grant = { ...counted, state: "Ended" };
const target: Holder = {
  ...holder,
  podUID: "target-uid",
  containerID: "containerd://2",
  node: "n2",
};
const handingOver: Grant = {
  ...counted,
  state: "HandingOver",
  holder,
  target,
  migrationUID: "mig",
};

function granted(
  grant: Grant | string | undefined,
  status: VirtualMachineInstanceStatus,
  isBeingDeleted = false,
): VirtualMachineInstance {
  const vmi = sampleVmi(status);
  const value = typeof grant === "object" ? encodeGrant(grant) : grant;
  return {
    ...vmi,
    metadata: {
      ...vmi.metadata,
      ...(isBeingDeleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
      annotations: {
        ...vmi.metadata?.annotations,
        ...(value === undefined ? {} : { [own(grantAnnotation)]: value }),
      },
    },
  };
}

function node(bootID = "b1", machineID = "m1", ready = "True", taint = false) {
  return {
    metadata: { name: "n1" },
    spec: { taints: taint ? [{ key: "node.kubernetes.io/out-of-service" }] : [] },
    status: { nodeInfo: { machineID, bootID }, conditions: [{ type: "Ready", status: ready }] },
  };
}

/** A launcher Pod that is being deleted, with what the kubelet says of its container. */
function ending(reason: string, containerID = "containerd://1", vmiUid = "vmi-uid"): PodObject {
  const pod = samplePod({
    finalizers: [proofFinalizer],
    deletionTimestamp: "2026-01-01T00:00:00Z",
    ownerReferences: [
      {
        apiVersion: "v1",
        kind: "VirtualMachineInstance",
        name: "vm",
        uid: vmiUid,
        controller: true,
      },
    ],
  });
  const terminated = { exitCode: 0, reason, containerID };
  const containerStatuses = [{ name: "compute", containerID, state: { terminated } }];
  return { ...pod, status: { phase: "Running", containerStatuses } };
}

interface Scene {
  readonly vmi: VirtualMachineInstance | undefined;
  readonly pods?: readonly PodObject[];
  readonly grant?: Partial<GrantView>;
}

function planOf({ vmi, pods = [], grant }: Scene, without?: GuardName): VmiPlan {
  const own = pods.filter(({ metadata }) => metadata?.ownerReferences?.[0]?.uid === "vmi-uid");
  const view: GrantView = {
    isLive: true,
    pods,
    nodes: [node()],
    isRemembered: () => true,
    remembered: [],
    ...grant,
    ...(without ? { rules: createRules({ without }) } : {}),
  };
  return planVmi(sampleView({ vmi, pods: own, grant: view }), config, sampleNow);
}

const grantIn = ({ metadata }: VmiPlan): string =>
  decodeGrant(metadata?.annotations?.[own(grantAnnotation)], "vmi-uid").state;
const deletes = (plan: VmiPlan) => plan.writes.filter(({ kind }) => kind === "delete").length;
const isHeld = ({ metadata }: VmiPlan) => metadata?.finalizers?.includes(finalizers.vmi) === true;
const forgets = ({ writes }: VmiPlan) =>
  writes.some(
    (write) =>
      JSON.stringify(write).includes("/metadata/finalizers") && write.resource.plural === "pods",
  );

const scheduling = { phase: "Scheduling" } as const;
const succeeded = { phase: "Succeeded" } as const;
const running = { phase: "Running", nodeName: "n1" } as const;
const fresh = { vmi: granted(freeGrant, scheduling), pods: [samplePod()] };

test("the write that hands over the VMI also grants the Pod", () => {
  const plan = planOf(fresh);
  expect(grantIn(plan)).toBe("Granted");
  expect(plan.status?.phase).toBe("Scheduled");
  expect(plan.writes.filter(({ resource }) => resource.plural !== "pods")).toHaveLength(1);
});

test("a cache grants, deletes and releases nothing: a live read is requested", () => {
  const cached = { grant: { isLive: false } };
  const asked = { writes: [], events: [], needsLiveRead: true };
  expect(planOf({ ...fresh, ...cached })).toEqual(asked);
  const going = granted(claimed, { phase: "Running", nodeName: "n1" }, true);
  expect(planOf({ vmi: going, pods: [samplePod()], ...cached })).toEqual(asked);
  expect(planOf({ vmi: granted(ended, succeeded), ...cached })).toEqual(asked);
  expect(planOf({ vmi: undefined, pods: [ending("Completed")], ...cached })).toEqual(asked);
});

test("a Pod that is not granted stays unscheduled, and a condition says why", () => {
  const plan = planOf({ ...fresh, grant: { isRemembered: () => false } });
  expect(plan.status?.phase).toBe("Scheduling");
  expect(plan.status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Synchronized", reason: "RunGrantRefused" }),
  );
});

test("says nothing while a proof may still come, then what a person must check", () => {
  const failed = granted(claimed, { phase: "Failed", nodeName: "n1" });
  const said = (plan: VmiPlan) =>
    plan.status?.conditions?.find(({ type }) => type === "Synchronized")?.message;
  expect(said(planOf({ vmi: failed, pods: [ending("ContainerStatusUnknown")] }))).toBeUndefined();
  expect(said(planOf({ vmi: failed }))).toContain("virtkit fence confirm n1");
});

test("first the grant ends, then its Pod is released, then its VMI", () => {
  const done = ending("Completed");
  const first = planOf({ vmi: granted(claimed, succeeded), pods: [done] });
  expect([grantIn(first), forgets(first), isHeld(first)]).toEqual(["Ended", false, true]);
  const second = planOf({ vmi: granted(ended, succeeded), pods: [done] });
  expect([forgets(second), isHeld(second)]).toEqual([true, true]);
  const third = planOf({ vmi: granted(ended, succeeded) });
  expect(isHeld(third)).toBe(false);
});

describe("a handover with neither side left", () => {
  const left = (state: "HandingOver" | "Released" | "Committed", nodes: readonly unknown[]) => ({
    vmi: granted({ ...handingOver, state, target: { ...target, machineID: "m2" } }, running),
    pods: [ending("Completed")],
    grant: { nodes },
  });
  const gone = [node(), { ...node("b2", "m2"), metadata: { name: "n2" } }];

  test.each(["HandingOver", "Released", "Committed"] as const)(
    "%s: ends with both proofs, and the VMI fails in the same write",
    (state) => {
      const plan = planOf(left(state, gone));
      expect([grantIn(plan), plan.status?.phase]).toEqual(["Ended", "Failed"]);
      expect(plan.writes.filter(({ resource }) => resource.plural !== "pods")).toHaveLength(1);
      expect(plan.events).toContainEqual(expect.objectContaining({ reason: "Stopped" }));
    },
  );

  test("both ended with one node", () => {
    const vmi = granted({ ...handingOver, target: { ...target, node: "n1" } }, running);
    expect(grantIn(planOf({ vmi, pods: [samplePod()], grant: { nodes: [node("b2")] } }))).toBe(
      "Ended",
    );
  });

  test.each([
    [
      "the target is still in the same boot",
      [node(), { ...node("b1", "m2"), metadata: { name: "n2" } }],
    ],
    ["nothing is known about the target's node", [node()]],
  ])("is kept while %s: the target may run", (_, nodes) => {
    const plan = planOf(left("Released", nodes));
    expect([grantIn(plan), plan.status?.phase]).toEqual(["Released", "Running"]);
  });

  test("is kept where the source may run", () => {
    const plan = planOf({ ...left("HandingOver", gone), pods: [samplePod()] });
    expect([grantIn(plan), plan.status?.phase]).toEqual(["HandingOver", "Running"]);
  });

  test("is left to agents that saw both ends", () => {
    const pods = [ending("Completed"), ending("Error", "containerd://2")];
    const vmi = granted(handingOver, running);
    const plan = planOf({ vmi, pods, grant: { nodes: [node()] } });
    expect([grantIn(plan), plan.status?.phase]).toEqual(["HandingOver", "Running"]);
  });

  test.each(["HandingOver", "Released"] as const)(
    "%s: the controllers report it once the migration is over, because each agent assumes that the guest was on the other side",
    (state) => {
      const pods = [ending("Completed"), ending("Error", "containerd://2")];
      const migrationState = { migrationUid: "mig-uid", completed: true, failed: true };
      const vmi = granted({ ...handingOver, state } as Grant, { ...running, migrationState });
      const plan = planOf({ vmi, pods, grant: { nodes: [node()] } });
      expect([grantIn(plan), plan.status?.phase]).toEqual(["Ended", "Failed"]);
    },
  );

  test("is not decided from a cache", () => {
    const scene = left("Released", gone);
    const plan = planOf({ ...scene, grant: { ...scene.grant, isLive: false } });
    expect(plan.needsLiveRead).toBe(true);
  });
});

describe.each([
  ["Running", claimed],
  ["Scheduled", claimed],
  ["Scheduled", { ...counted, state: "Granted", podUID: "pod-uid" }],
] as const)("a guest in phase %s, %o, on a lost node", (phase, grant) => {
  const vmi = granted(grant, { phase });
  /** As a dead node leaves it: being deleted, and reported as running. */
  const pod: PodObject = {
    ...ending("", "containerd://1"),
    status: {
      phase: "Failed",
      containerStatuses: [{ name: "compute", containerID: "containerd://1", state: {} }],
    },
  };
  const on = (...nodes: readonly object[]): VmiPlan =>
    planOf({ vmi, pods: [pod], grant: { nodes } });

  test("fails once the node is out of service, and its grant ends", () => {
    const fenced = node("b1", "m1", "Unknown", true);
    const plan = on(fenced);
    expect(plan.status?.phase).toBe("Failed");
    expect(plan.events).toContainEqual(expect.objectContaining({ reason: "Stopped" }));
    const failed = { ...vmi, status: { ...vmi.status, phase: "Failed" } } as typeof vmi;
    const next = planOf({ vmi: failed, pods: [pod], grant: { nodes: [fenced] } });
    expect(grantIn(next)).toBe("Ended");
    const cached = { nodes: [fenced], isLive: false };
    expect(planOf({ vmi, pods: [pod], grant: cached }).needsLiveRead).toBe(true);
  });

  const others = [
    ["nobody says that it is off", node("b1", "m1", "Unknown")],
    ["it is Ready, whatever the taint says", node("b1", "m1", "True", true)],
    ["it is in another boot, and its agent will say so", node("b2", "m1", "True")],
  ] as const;
  test.each([
    ...others,
    // If it was not claimed yet, nobody has said on which machine it runs.
    ...(grant.state === "Claimed"
      ? ([["another machine is out of service", node("b1", "m2", "Unknown", true)]] as const)
      : []),
  ])("is left as it is while %s", (_, seen) => {
    expect(on(seen).status?.phase).toBe(phase);
  });
});

test("keeps a VMI without a Pod object until its end is proven", () => {
  expect(isHeld(planOf({ vmi: granted(claimed, succeeded) }))).toBe(true);
});

test("a grant that nobody ever got ends as this VMI's, because another VMI's would be invalid", () => {
  expect(grantIn(planOf({ vmi: granted(freeGrant, scheduling, true) }))).toBe("Ended");
});

describe("a target Pod that its kubelet rejected", () => {
  const terminated = { exitCode: 137, reason: "ContainerStatusUnknown" };
  const rejected: PodObject = {
    ...ending(""),
    status: {
      phase: "Failed",
      containerStatuses: [{ name: "compute", containerID: "", state: { terminated } }],
    },
  };
  const movedOnce: Grant = { ...ended, epoch: 2, seq: 6 };
  const elsewhere: Grant = { ...claimed, seq: 6, holder: target };

  test.each([
    ["has ended", movedOnce],
    ["is another launcher's", elsewhere],
  ])("is released without proof once the grant %s", (_, grant) => {
    expect(forgets(planOf({ vmi: granted(grant, running), pods: [rejected] }))).toBe(true);
  });

  test.each([
    ["names it", { ...claimed, seq: 6 }],
    ["may still be claimed by it", { ...counted, seq: 6, state: "Granted", podUID: "pod-uid" }],
    ["cannot be read", "{}"],
  ] as const)("is kept while the grant %s", (_, grant) => {
    expect(forgets(planOf({ vmi: granted(grant, running), pods: [rejected] }))).toBe(false);
  });

  test("is kept while its kubelet has a container of it", () => {
    const pods = [ending("ContainerStatusUnknown", "containerd://7")].map((pod) => ({
      ...pod,
      status: { ...pod.status, phase: "Failed" },
    }));
    expect(forgets(planOf({ vmi: granted(movedOnce, running), pods }))).toBe(false);
  });
});

test("a Pod that was never scheduled ends without proof", () => {
  const { status: _, ...pending } = samplePod({
    finalizers: [proofFinalizer],
    deletionTimestamp: "2026-01-01T00:00:00Z",
  });
  const unbound = { ...pending, spec: { containers: [] } };
  expect(forgets(planOf({ vmi: granted(ended, succeeded), pods: [unbound] }))).toBe(true);
  // On a node something may have started that is not reported yet, perhaps a copy that was handed
  // over.
  const movedOnce: Grant = { ...ended, epoch: 2, seq: 6 };
  expect(forgets(planOf({ vmi: granted(movedOnce, succeeded), pods: [pending] }))).toBe(false);
  // If a grant was never handed over, only its claimer could run, and that one is proven to have
  // ended.
  expect(forgets(planOf({ vmi: granted(ended, succeeded), pods: [pending] }))).toBe(true);
  const { deletionTimestamp: _stays, ...staying } = pending.metadata ?? {};
  const failed = { ...pending, metadata: staying, status: { phase: "Failed" } };
  expect(forgets(planOf({ vmi: granted(ended, succeeded), pods: [failed] }))).toBe(false);
  // If nobody ever got a grant, nothing ran, whatever the kubelet did not report.
  const neverGranted: Grant = { ...ended, seq: 1 };
  expect(forgets(planOf({ vmi: granted(neverGranted, succeeded), pods: [pending] }))).toBe(true);
  const stranger = {
    ...pending,
    metadata: { ...pending.metadata, ownerReferences: [earlierOwner] },
  };
  expect(forgets(planOf({ vmi: granted(neverGranted, succeeded), pods: [stranger] }))).toBe(false);
});

test("releases a Pod whose VMI is gone once its end is proven", () => {
  expect(forgets(planOf({ vmi: undefined, pods: [ending("Completed")] }))).toBe(true);
  expect(forgets(planOf({ vmi: undefined, pods: [ending("ContainerStatusUnknown")] }))).toBe(false);
});

/**
 * For each guard that a controller asks: what it prevents here, and that this happens without it.
 */
const stale = ending("Completed", "containerd://9", "old-vmi-uid");
const unproven = ending("ContainerStatusUnknown", "containerd://9", "old-vmi-uid");
const isGranted = (plan: VmiPlan) => grantIn(plan) === "Granted";
const isEnded = (plan: VmiPlan) => grantIn(plan) === "Ended";
const over = (nodes: readonly unknown[]): Scene => ({
  vmi: granted(claimed, succeeded),
  grant: { nodes },
});
const guarded: readonly [GuardName, Scene, (plan: VmiPlan) => boolean][] = [
  ["readable", { ...fresh, vmi: granted("no grant", scheduling) }, isGranted],
  ["remember-first", { ...fresh, grant: { isRemembered: () => false } }, isGranted],
  ["listed-ended", { ...fresh, pods: [samplePod(), unproven] }, isGranted],
  ["remembered-ended", { ...fresh, grant: { remembered: [{ holder, proofs: [] }] } }, isGranted],
  ["holder-ended", { vmi: granted(claimed, succeeded) }, isEnded],
  ["target-ended", { vmi: granted(handingOver, succeeded), pods: [ending("Completed")] }, isEnded],
  [
    "status-known",
    { vmi: granted(claimed, succeeded), pods: [ending("ContainerStatusUnknown")] },
    isEnded,
  ],
  [
    "proof-names-container",
    { vmi: granted(claimed, succeeded), pods: [ending("Completed", "containerd://2")] },
    isEnded,
  ],
  ["same-machine", over([node("b2", "m2")]), isEnded],
  ["other-boot", over([node("b1")]), isEnded],
  ["fence-not-ready", over([node("b1", "m1", "True", true)]), isEnded],
  [
    "handover-stays",
    { vmi: granted({ ...handingOver, state: "Released" }, running, true), pods: [samplePod()] },
    (plan) => deletes(plan) > 0,
  ],
  ["forget-unnamed", { vmi: granted(claimed, running), pods: [ending("Completed")] }, forgets],
];

describe("every guard that a controller asks matters here", () => {
  test.each(guarded)("%s", (guard, scene, happens) => {
    expect(happens(planOf(scene))).toBe(false);
    expect(happens(planOf(scene, guard))).toBe(true);
  });
});

test.each([
  ["another boot of the host", over([node("b2")])],
  ["the taint, while the Node is not Ready", over([node("b1", "m1", "False", true)])],
  ["the kubelet's report", { vmi: granted(claimed, succeeded), pods: [ending("Error")] }],
])("%s proves the end", (_, scene) => {
  expect(isEnded(planOf(scene))).toBe(true);
});

test("earlier Pods that are proven to have ended do not hold up the first grant", () => {
  expect(isGranted(planOf({ ...fresh, pods: [samplePod(), stale] }))).toBe(true);
});

test("a Pod that the VM does not remember yet costs no live read while it is new, and is refused later", () => {
  const vmi = granted(freeGrant, { phase: "Pending" });
  const unremembered = { isLive: false, isRemembered: () => false };
  const created = (secondsAgo: number): PodObject =>
    samplePod({ creationTimestamp: new Date(sampleNow - secondsAgo * 1000).toISOString() });
  const early = planOf({ vmi, pods: [created(1)], grant: unremembered });
  expect(early).toMatchObject({ requeueAfterSeconds: 2 });
  expect(early.needsLiveRead).toBeUndefined();
  expect(early.writes.map(({ resource }) => resource.plural)).not.toContain(
    "virtualmachineinstances",
  );
  expect(planOf({ vmi, pods: [created(3)], grant: unremembered }).needsLiveRead).toBe(true);
  const late = planOf({ vmi, pods: [created(3)], grant: { ...unremembered, isLive: true } });
  expect([grantIn(late), late.status?.conditions?.map(({ reason }) => reason)]).toEqual([
    "Free",
    expect.arrayContaining(["RunGrantRefused"]),
  ]);
});
