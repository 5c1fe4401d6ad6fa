import { encodeGrant, type Grant, grantAnnotation } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { type Condition, conditionsOf, findCondition } from "@virtkit/api/status";
import { expect, test } from "vitest";
import type { PlannedWrite } from "../plan/plan.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import type { PodObject } from "./cluster-objects.ts";
import { planVmi } from "./plan-vmi.ts";
import {
  sampleConfig,
  sampleNow,
  samplePod,
  sampleView,
  sampleVmi,
} from "./testing/sample-view.ts";
import type { VmiPlanConfig } from "./vmi-plan-config.ts";
import type { VmiView } from "./vmi-view.ts";

const { annotations, labels, podConditions, own } = names();
const grantKey = own(grantAnnotation);

const plan = (
  view: VmiView,
  config: VmiPlanConfig = sampleConfig,
  outcomes: readonly WriteOutcome[] = [],
) => planVmi(view, config, sampleNow, outcomes);

const said = (write: PlannedWrite): string => `${write.kind} ${write.resource.plural}`;

const stepByStep = { ...sampleConfig, stepByStep: true };

test("a new VMI gets a Pod, and its own write only if the Pod is not ready soon", () => {
  const { writes, events, requeueAfterSeconds } = plan(sampleView());
  expect(writes.map(said)).toEqual(["create pods"]);
  expect(events.map(({ reason }) => reason)).toEqual(["SuccessfulCreate"]);
  expect(requeueAfterSeconds).toBe(3);
  const told = plan(sampleView(), stepByStep);
  expect(told.writes.map(said)).toEqual(["create pods", "patch virtualmachineinstances"]);
  expect(told.status).toMatchObject({ phase: "Scheduling" });
});

const waitingPod = (age: number, conditions: readonly Condition[] = []): PodObject => ({
  ...samplePod({ creationTimestamp: new Date(sampleNow - age).toISOString() }),
  status: { phase: "Pending", conditions, containerStatuses: [] },
});

test("a VMI shows that its Pod is slow, or that no node accepts it", () => {
  const look = (pod: PodObject) => {
    const { writes, ...rest } = plan(sampleView({ pods: [pod] }));
    return { ...rest, writes: writes.filter((each) => said(each).endsWith("instances")) };
  };
  expect(look(waitingPod(2_000)).writes).toEqual([]);
  expect(look(waitingPod(2_000)).requeueAfterSeconds).toBe(1);
  expect(look(waitingPod(3_000))).toMatchObject({
    status: { phase: "Scheduling" },
    writes: [{ kind: "patch" }],
  });
  const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable" };
  expect(look(waitingPod(0, [unschedulable]))).toMatchObject({
    status: { phase: "Scheduling", conditions: [{ type: "Ready" }, unschedulable] },
    writes: [{ kind: "patch" }],
  });
});

test("a Pod that is ready soon takes its VMI to Scheduled with one write, and both phases are reported", () => {
  const pod = samplePod();
  const { writes, status } = plan(sampleView({ pods: [pod] }));
  expect(writes.map(said)).toEqual(["patch pods", "patch virtualmachineinstances"]);
  expect(writes[0]).toMatchObject({
    subresource: "status",
    operations: [
      { path: "/metadata/labels", value: { [labels.nodeName]: "n1" } },
      { path: "/metadata/annotations" },
      { path: "/status/conditions/-", value: { type: podConditions.unpaused, status: "True" } },
    ],
  });
  expect(status?.phaseTransitionTimestamps).toEqual([
    { phase: "Scheduling", phaseTransitionTimestamp: pod.metadata?.creationTimestamp },
    { phase: "Scheduled", phaseTransitionTimestamp: "2026-01-01T00:00:00Z" },
  ]);
});

test("while only the controller writes a VMI, its write demands the version that was read", () => {
  const [, write] = plan(sampleView(), stepByStep).writes;
  const demand = { op: "test", path: "/metadata/resourceVersion", value: "7" };
  expect(write).toMatchObject({ operations: expect.arrayContaining([demand]) });
});

test("that a guest has ended is written only to the VMI that was read: it may have arrived on another node since", () => {
  const vmi = sampleVmi({ phase: "Running", nodeName: "n1" });
  const memory = { isRemembered: () => true, remembered: [] };
  const grant = { ...memory, isLive: true, pods: [], nodes: [] };
  const { status, writes } = plan(sampleView({ vmi, pods: [], grant }));
  expect(status?.phase).toBe("Failed");
  const demand = { op: "test", path: "/metadata/resourceVersion", value: "7" };
  expect(writes).toMatchObject([{ operations: expect.arrayContaining([demand]) }]);
});

interface TargetCase {
  readonly migrations: readonly string[];
  /** Seconds. */
  readonly age: number;
  /** The Pod that has the guest, if it is not the source. */
  readonly holder?: string;
  readonly deleted: readonly string[];
}

test.each<[string, TargetCase]>([
  ["whose migration exists is kept", { migrations: ["mig-uid"], age: 600, deleted: [] }],
  ["whose migration is gone is deleted", { migrations: [], age: 600, deleted: ["target"] }],
  ["that is new may be shown before its migration", { migrations: [], age: 10, deleted: [] }],
  ["that has the guest is kept", { migrations: [], age: 600, holder: "target-uid", deleted: [] }],
])("a target Pod %s", (_, { migrations, age, holder: podUID = "pod-uid", deleted }) => {
  const running = sampleVmi({ phase: "Running", nodeName: "n1" });
  const holder = { podUID, containerID: "c", node: "n1", machineID: "m", bootID: "b", nonce: "x" };
  const claimed = { state: "Claimed", vmiUID: "vmi-uid", epoch: 1, seq: 2, holder } as const;
  const noted = { ...running.metadata?.annotations, [grantKey]: encodeGrant(claimed) };
  const target = samplePod({
    ...{ name: "target", uid: "target-uid", labels: { [labels.migrationJobUid]: "mig-uid" } },
    creationTimestamp: new Date(sampleNow - age * 1_000).toISOString(),
  });
  const pods = [samplePod(), target];
  const { writes } = plan(
    sampleView({
      vmi: { ...running, metadata: { ...running.metadata, annotations: noted } },
      migrations: migrations.map((uid) => ({ metadata: { uid }, spec: {} })) as never,
      ...{
        pods,
        grant: { isRemembered: () => true, remembered: [], isLive: true, pods, nodes: [] },
      },
    }),
  );
  const gone = writes.flatMap((write) => (write.kind === "delete" ? [write.object.name] : []));
  expect(gone).toEqual(deleted);
});

test("a Pod that its guest is leaving may end; the condition does not say that the guest's Pod ends", () => {
  const holderOf = (podUID: string) => ({
    ...{ podUID, containerID: `c-${podUID}`, node: `n-${podUID}` },
    ...{ machineID: "m", bootID: "b", nonce: podUID },
  });
  const counted = { vmiUID: "vmi-uid", epoch: 1, seq: 2, holder: holderOf("pod-uid") } as const;
  const target = { target: holderOf("target-uid"), migrationUID: "mig-uid" };
  const reasonWith = (grant: Grant) => {
    const running = sampleVmi({ phase: "Running", nodeName: "n1" });
    const noted = { ...running.metadata?.annotations, [grantKey]: encodeGrant(grant) };
    const source = { ...samplePod(), status: { phase: "Succeeded" } };
    const pods = [source];
    const { status } = plan(
      sampleView({
        vmi: { ...running, metadata: { ...running.metadata, annotations: noted } },
        ...{
          pods,
          grant: { isRemembered: () => true, remembered: [], isLive: true, pods, nodes: [] },
        },
      }),
    );
    return findCondition(conditionsOf({ status }), "Ready")?.reason;
  };
  expect(reasonWith({ state: "Claimed", ...counted })).toBe("PodTerminating");
  expect(reasonWith({ state: "Released", ...counted, ...target })).toBe("GuestNotRunning");
});

test("a Pod's name follows from the VMI, so that two controllers collide", () => {
  const nameOf = (view: VmiView) => {
    const [write] = plan(view).writes;
    return write?.kind === "create" ? write.object.metadata.name : undefined;
  };
  const vmi = sampleVmi();
  const namesake = { ...vmi, metadata: { ...vmi.metadata, uid: "other-uid" } };
  expect(nameOf(sampleView())).toMatch(/^virt-launcher-vm-[0-9a-f]{10}$/);
  expect(nameOf(sampleView())).toBe(nameOf(sampleView()));
  expect(nameOf(sampleView({ vmi: namesake }))).not.toBe(nameOf(sampleView()));
  const [generated] = plan(sampleView(), { ...sampleConfig, podNames: "generated" }).writes;
  expect(generated).toHaveProperty("object.metadata.generateName");
});

test("a Pod that merely carries the labels is not the VMI's Pod", () => {
  const stranger = samplePod({ labels: { [labels.createdBy]: "vmi-uid" }, ownerReferences: [] });
  expect(plan(sampleView({ pods: [stranger] })).writes.map(said)[0]).toBe("create pods");
});

test("Pods of an earlier VMI of the same name do not count", () => {
  const vmi = sampleVmi();
  const anew = { ...vmi, metadata: { ...vmi.metadata, uid: "other-uid" } };
  expect(plan(sampleView({ vmi: anew, pods: [samplePod()] })).writes.map(said)[0]).toBe(
    "create pods",
  );
});

test("a controller that does not see its own writes yet decides nothing", () => {
  expect(plan(sampleView({ isBehind: true })).writes).toEqual([]);
});

test("does nothing about a VMI that is gone", () => {
  expect(plan(sampleView({ vmi: undefined }))).toEqual({ writes: [], events: [] });
});

test("reports a refused Pod in an event and a condition, with what to do about it", () => {
  const message = "pods is forbidden: violates PodSecurity";
  const refused = { kind: "refused", refusal: { reason: "Forbidden", message } } as const;
  const { events, status, error } = plan(sampleView(), sampleConfig, [refused]);
  expect(events).toMatchObject([{ type: "Warning", reason: "FailedCreate" }]);
  expect(events[0]?.message).toContain("the namespace must permit privileged Pods");
  expect(status?.phase).toBe("Pending");
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Synchronized", status: "False", reason: "FailedCreate" }),
  );
  expect(error).toMatchObject({ kind: "sync", reason: "FailedCreate" });
});

test("a Multus network is refused where Multus is not installed, and no Pod waits for it", () => {
  const vmi = sampleVmi({});
  const spec = {
    ...vmi.spec,
    networks: [
      { name: "default", pod: {} },
      { name: "inside", multus: { networkName: "inside" } },
    ],
  };
  const without = { ...sampleView({ vmi: { ...vmi, spec } }), isWithoutMultus: true };
  const { writes, status, error } = plan(without);
  expect(writes.map(said)).not.toContain("create pods");
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: "Synchronized", status: "False", reason: "FailedCreate" }),
  );
  expect(error?.message).toMatch(
    /^spec\.networks\[1\]\.multus: Multus, which gives Pods more networks, is not installed/,
  );
  const pod = { ...sampleView(), isWithoutMultus: true };
  expect(plan(pod).writes.map(said)).toContain("create pods");
});

/** A VMI and its Pod with nothing left to write. */
function settled(): VmiView {
  const vmi = sampleVmi({
    phase: "Running",
    nodeName: "n1",
    activePods: { "pod-uid": "n1" },
    launcherContainerImageVersion: "launcher:1",
    // As a node agent may write it: without the empty times that Go puts in.
    conditions: [{ type: "Ready", status: "True" }],
  });
  const freezer = (verb: string) =>
    `["/usr/bin/virt-freezer", "--${verb}", "--name", "vm", "--namespace", "ns"]`;
  const pod = samplePod({
    annotations: {
      "descheduler.alpha.kubernetes.io/request-evict-only": "",
      "pre.hook.backup.velero.io/container": "compute",
      "pre.hook.backup.velero.io/command": freezer("freeze"),
      "pre.hook.backup.velero.io/timeout": "60s",
      "post.hook.backup.velero.io/container": "compute",
      "post.hook.backup.velero.io/command": freezer("unfreeze"),
    },
  });
  const conditions = [
    { type: "Ready", status: "True" },
    { type: podConditions.unpaused, status: "True" },
  ];
  return sampleView({ vmi, pods: [{ ...pod, status: { ...pod.status, conditions } }] });
}

test("writes nothing about a VMI that is up to date", () => {
  expect(plan(settled()).writes).toEqual([]);
});

test("tests conditions as they are stored, whatever form their writer chose", () => {
  const view = settled();
  const [pod] = view.pods;
  const conditions = [{ type: "Ready", status: "False", reason: "ContainersNotReady" }];
  const unready = { ...pod, status: { ...pod?.status, conditions } };
  const write = plan({ ...view, pods: [unready] }).writes.at(-1);
  expect(write).toMatchObject({
    operations: [
      { op: "test", path: "/status/conditions", value: [{ type: "Ready", status: "True" }] },
      { op: "add", path: "/status/conditions" },
    ],
  });
});

/** A guest that has just moved to n2, whose gate was opened some milliseconds ago, and whose kubelet has not reported that. */
function arrived(openFor: number): VmiView {
  const { vmi, pods, ...rest } = settled();
  const [before] = pods;
  const state = { migrationUid: "mig-uid", targetNodeDomainReadyTimestamp: "2026-01-01T00:00:00Z" };
  const activePods = { "pod-uid": "n1", target: "n2" };
  const moved = sampleVmi({ ...vmi?.status, nodeName: "n2", activePods, migrationState: state });
  const lastTransitionTime = new Date(sampleNow - openFor).toISOString();
  const conditions = [
    { type: "Ready", status: "False", reason: "ReadinessGatesNotReady" },
    { type: podConditions.unpaused, status: "True", lastTransitionTime },
  ];
  const target: PodObject = {
    metadata: {
      ...before?.metadata,
      uid: "target",
      labels: { [labels.migrationJobUid]: "mig-uid" },
    },
    spec: { ...before?.spec, nodeName: "n2" },
    status: { ...before?.status, conditions },
  };
  return { ...rest, vmi: moved, pods: [...pods, target] };
}

test("a VMI stays ready for three seconds while the kubelet of its guest's new node has not reported that its gate is open", () => {
  const { writes, requeueAfterSeconds } = plan(arrived(1_000));
  expect(writes).toEqual([]);
  expect(requeueAfterSeconds).toBe(2);
  const late = plan(arrived(3_000));
  expect(findCondition(conditionsOf(late), "Ready")?.status).toBe("False");
  expect(late.writes.map(said)).toEqual(["patch virtualmachineinstances"]);
  expect(plan(arrived(1_000), stepByStep).writes.map(said)).toEqual(late.writes.map(said));
});

test("a VMI whose guest is between two Pods for a moment stays ready; after three seconds it does not", () => {
  const look = (endedFor: number) => {
    const { vmi, pods, ...rest } = settled();
    const finishedAt = new Date(sampleNow - endedFor).toISOString();
    const state = { terminated: { exitCode: 0, finishedAt } };
    const ended = pods.map((pod) => ({
      ...pod,
      status: { ...pod.status, containerStatuses: [{ name: "compute", ready: false, state }] },
    }));
    const holder = { podUID: "pod-uid", containerID: "c", node: "n1", machineID: "m", bootID: "b" };
    const grant: Grant = {
      ...{ state: "Released", vmiUID: "vmi-uid", epoch: 1, seq: 4, migrationUID: "mig-uid" },
      ...{ holder: { ...holder, nonce: "x" }, target: { ...holder, podUID: "target", nonce: "y" } },
    };
    const annotations = { ...vmi?.metadata?.annotations, [grantKey]: encodeGrant(grant) };
    const moving = { ...sampleVmi(vmi?.status), metadata: { ...vmi?.metadata, annotations } };
    const memory = { isRemembered: () => true, remembered: [] };
    const known = { ...memory, isLive: true, pods: ended, nodes: [] };
    return plan({ ...rest, vmi: moving, pods: ended, grant: known });
  };
  const soon = look(1_000);
  expect(soon.writes.filter((each) => said(each).endsWith("instances"))).toEqual([]);
  expect(soon.requeueAfterSeconds).toBe(2);
  // The second one by the clock of a node that is ahead.
  for (const { status } of [look(3_000), look(-60_000)]) {
    expect(findCondition(conditionsOf({ status }), "Ready")).toMatchObject({
      ...{ status: "False", reason: "GuestNotRunning" },
    });
  }
});

test("that another Pod may receive the guest is written by the hand-off, or once that has been written", () => {
  const view = settled();
  const [pod] = view.pods;
  const target: PodObject = {
    ...pod,
    metadata: { ...pod?.metadata, uid: "target", labels: { [labels.migrationJobUid]: "mig-uid" } },
    spec: { ...pod?.spec, nodeName: "n2" },
  };
  const pods = pod ? [pod, target] : [];
  expect(plan({ ...view, pods }).writes).toEqual([]);
  expect(plan({ ...view, pods }, stepByStep).writes).toHaveLength(1);
  const state = { migrationState: { migrationUid: "mig-uid" } };
  const told = { ...view.vmi, ...sampleVmi({ ...view.vmi?.status, ...state }) };
  const { status, writes } = plan({ ...view, vmi: told, pods });
  expect(status?.activePods).toEqual({ "pod-uid": "n1", target: "n2" });
  expect(writes.map(said)).toEqual(["patch virtualmachineinstances"]);
});

test("a Pod learns since when its guest has been in it together with what else a move changes there", () => {
  const view = arrived(0);
  const memory = { isRemembered: () => true, remembered: [] };
  const grant = { ...memory, isLive: true, pods: [], nodes: [] };
  const told = (given: VmiView) =>
    plan(given).writes.filter(({ resource }) => resource.plural === "pods");
  const value = "2026-01-01 00:00:00 +0000 UTC";
  const path = `/metadata/annotations/${annotations.migrationTargetReadyTimestamp.replace("/", "~1")}`;
  expect(told({ ...view, grant })).toMatchObject([{ operations: [{ op: "add", path, value }] }]);
  // Without a grant the plan is KubeVirt's, and its migration controller writes that.
  expect(told(view)).toEqual([]);
});

test("changes a Pod's labels and annotations in one write", () => {
  const view = settled();
  const { vmi } = view;
  const moved = {
    ...sampleVmi({ ...vmi?.status, evacuationNodeName: "n1" }),
    metadata: { ...vmi?.metadata, labels: { [labels.nodeName]: "n1" } },
  };
  const pods = plan({ ...view, vmi: moved }).writes.filter(
    ({ resource }) => resource.plural === "pods",
  );
  expect(pods).toMatchObject([
    {
      operations: [
        { op: "add", path: "/metadata/labels", value: { [labels.nodeName]: "n1" } },
        {
          op: "add",
          path: "/metadata/annotations/descheduler.alpha.kubernetes.io~1eviction-in-progress",
        },
      ],
    },
  ]);
});

test("a new VMI gets the API version with its first write; in single steps, with a separate one", () => {
  const vmi = sampleVmi();
  const unseen = { ...vmi, metadata: { ...vmi.metadata, annotations: {} } };
  const { writes } = plan(sampleView({ vmi: unseen }), stepByStep);
  const key = annotations.latestObservedApiVersion.split("/")[1];
  expect(writes.map(said)).toEqual(["patch virtualmachineinstances"]);
  expect(JSON.stringify(writes)).toContain(key);
  const joined = plan(sampleView({ vmi: unseen, pods: [samplePod()] }));
  expect(joined.writes.map(said)).toEqual(["patch pods", "patch virtualmachineinstances"]);
  expect(JSON.stringify(joined.writes)).toContain(key);
});
