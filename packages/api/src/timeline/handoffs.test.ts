import { expect, test } from "vitest";
import type { VirtualMachineInstance } from "../schema/index.ts";
import { firstOpenHandoff, type Handoff, handoffs, type TimelineInput } from "./handoffs.ts";
import { stageFacts, stages } from "./stage.ts";

const t = (seconds: number): string => `2026-01-01T10:00:0${seconds}Z`;
const vmi = (phase: string, ...conditions: object[]): VirtualMachineInstance => ({
  metadata: { name: "web", namespace: "ns", uid: "u", creationTimestamp: t(0) },
  spec: { domain: { devices: {} } },
  status: { phase, conditions: conditions as never, phaseTransitionTimestamps: reached(phase) },
});
const order = ["Pending", "Scheduling", "Scheduled", "Running"];
const reached = (phase: string) =>
  order
    .slice(0, order.indexOf(phase) + 1)
    .map((name, index) => ({ phase: name, phaseTransitionTimestamp: t(index) }));
const pod = (status: object, spec: object = {}, metadata: object = {}) => ({
  metadata: { name: "launcher", uid: "p", creationTimestamp: t(1), ...metadata },
  spec,
  status,
});
const container = (state: object, extra: object = {}) => ({
  phase: "Pending",
  containerStatuses: [{ name: "compute", image: "quay.io/x:1", state, ...extra }],
});
const condition = (type: string, status: string, reason = "", message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: t(5),
});
const event = (kind: string, reason: string, message: string, at = 3) => ({
  type: "Warning",
  reason,
  message,
  lastTimestamp: t(at),
  involvedObject: { kind, name: kind === "Pod" ? "launcher" : "web" },
});
const states = (input: TimelineInput): string =>
  handoffs(input)
    .map(({ state }) => state[0])
    .join("");
const open = (input: TimelineInput): Handoff | undefined => firstOpenHandoff(handoffs(input));

/** One letter per stage: done, waiting, failed, unknown. */
test.each([
  ["a manifest that is not stored", { spec: { domain: { devices: {} } } }, "uuuuuuuuuuuu"],
  ["Pending", vmi("Pending"), "dwwwwwwwwwww"],
  ["Scheduling", vmi("Scheduling"), "dduuwwwwwwww"],
  ["Scheduled", vmi("Scheduled"), "ddddduuuuwww"],
  ["Running", vmi("Running"), "ddddduuuuduw"],
] as const)("%s, with nothing else known", (_, subject, expected) => {
  expect(states({ vmi: subject as VirtualMachineInstance })).toBe(expected);
});

test("an event that comes late does not make its stage later than the next one", () => {
  const subject = vmi("Running", condition("Ready", "True"));
  const at = (seconds: number): string | undefined =>
    handoffs({
      vmi: subject,
      events: [event("VirtualMachineInstance", "Created", "the guest was defined", seconds)],
    }).find(({ stage }) => stage === "domain-defined")?.at;
  expect([at(2), at(6)]).toEqual([t(2), t(3)]);
});

test("takes times from the objects, and every stage names who makes it happen", () => {
  const list = handoffs({
    vmi: vmi("Running", condition("Ready", "True"), condition("AgentConnected", "True")),
    pod: pod({
      phase: "Running",
      conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: t(2) }],
      containerStatuses: [{ name: "compute", state: { running: { startedAt: t(2) } } }],
    }),
  });
  expect(list.map(({ stage, at }) => [stage, at])).toEqual([
    ["admitted", t(0)],
    ["pod-created", t(1)],
    ["scheduled", t(2)],
    ["pod-running", t(2)],
    ["launcher-ready", t(2)],
    ["prepared", undefined],
    ["network-bound", undefined],
    ["claimed", undefined],
    ["domain-defined", undefined],
    ["guest-running", t(3)],
    ["ready", t(5)],
    ["agent-connected", t(5)],
  ]);
  for (const { stage, by } of list) expect(by).toBe(stageFacts[stage].by);
  expect(firstOpenHandoff(list)).toBeUndefined();
});

test("stages on the node come from a trace or from events, and are never guessed", () => {
  const trace = [
    { stage: "network-bound" as const, at: t(4) },
    { stage: "domain-defined" as const, state: "failed" as const, message: "no such CPU model" },
  ];
  const list = handoffs({ vmi: vmi("Scheduled"), trace });
  expect(list[6]).toMatchObject({ state: "done", at: t(4) });
  expect(firstOpenHandoff(list)).toMatchObject({
    stage: "domain-defined",
    reason: "no such CPU model",
  });
  const events = [event("VirtualMachineInstance", "Created", "VirtualMachineInstance defined.", 4)];
  expect(handoffs({ vmi: vmi("Scheduled"), events })[8]).toMatchObject({ state: "done", at: t(4) });
});

const unschedulable = "0/3 nodes are available: 3 Insufficient memory.";

/** Typical complaints, each with the stage and a piece of the sentence. */
test.each([
  [
    "no node, according to the Pod",
    {
      vmi: vmi("Scheduling"),
      pod: pod({
        phase: "Pending",
        conditions: [condition("PodScheduled", "False", "Unschedulable", unschedulable)],
      }),
    },
    "scheduled",
    /no node accepts the Pod.*Insufficient memory/,
  ],
  [
    "no node, according to the VMI",
    { vmi: vmi("Scheduling", condition("PodScheduled", "False", "Unschedulable", unschedulable)) },
    "scheduled",
    /no node accepts the Pod/,
  ],
  [
    "no virtualisation",
    {
      vmi: vmi(
        "Scheduling",
        condition(
          "PodScheduled",
          "False",
          "Unschedulable",
          "0/1 nodes are available: 1 Insufficient devices.kubevirt.io/kvm.",
        ),
      ),
    },
    "scheduled",
    /hardware virtualisation/,
  ],
  [
    "an image",
    {
      vmi: vmi("Scheduling"),
      pod: pod(
        container({ waiting: { reason: "ImagePullBackOff", message: "Back-off pulling" } }),
        { nodeName: "n" },
      ),
    },
    "pod-running",
    /image cannot be pulled.*quay.io\/x:1/,
  ],
  [
    "an image, according to the VMI",
    { vmi: vmi("Scheduling", condition("Synchronized", "False", "ErrImagePull", "unauthorized")) },
    "pod-running",
    /image cannot be pulled: unauthorized/,
  ],
  [
    "a crash loop",
    {
      vmi: vmi("Scheduling"),
      pod: pod(
        container(
          { waiting: { reason: "CrashLoopBackOff" } },
          { restartCount: 4, lastState: { terminated: { exitCode: 1, reason: "Error" } } },
        ),
        { nodeName: "n" },
      ),
    },
    "pod-running",
    /"compute" keeps crashing \(4 restarts, last exit code 1, Error\)/,
  ],
  [
    "a claim that is missing",
    {
      vmi: vmi(
        "Pending",
        condition(
          "Synchronized",
          "False",
          "FailedPvcNotFound",
          "PVC ns/data does not exist, waiting for it to appear",
        ),
      ),
    },
    "pod-created",
    /volume claim ns\/data does not exist/,
  ],
  [
    "a quota",
    {
      vmi: vmi("Pending"),
      events: [
        event(
          "VirtualMachineInstance",
          "FailedCreate",
          'Error creating pod: pods "x" is forbidden: exceeded quota: team-a, requested: memory=4Gi, used: memory=8Gi, limited: memory=10Gi',
        ),
      ],
    },
    "pod-created",
    /quota "team-a" of the namespace is used up: requested: memory=4Gi/,
  ],
  [
    "Pod security",
    {
      vmi: vmi(
        "Pending",
        condition(
          "Synchronized",
          "False",
          "FailedCreate",
          'pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged',
        ),
      ),
    },
    "pod-created",
    /Pod security level "restricted:latest"/,
  ],
  [
    "admission",
    {
      vmi: { metadata: { name: "web" }, spec: { domain: { devices: {} } } },
      events: [
        event(
          "VirtualMachine",
          "FailedCreate",
          'Error creating virtual machine instance: admission webhook "vmi.kubevirt.io" denied the request: spec.domain.memory is missing',
        ),
      ],
    },
    "admitted",
    /webhook vmi.kubevirt.io refused it: spec.domain.memory is missing/,
  ],
  [
    "disks that are being filled",
    { vmi: vmi("Pending", condition("DataVolumesReady", "False", "NotAllDVsReady")) },
    "pod-created",
    /still being filled/,
  ],
  [
    "a volume that does not mount",
    {
      vmi: vmi("Scheduling"),
      pod: pod({ phase: "Pending" }, { nodeName: "n" }),
      events: [event("Pod", "FailedMount", "timed out waiting")],
    },
    "pod-running",
    /cannot be mounted on the node: timed out waiting/,
  ],
  [
    "the network",
    {
      vmi: vmi(
        "Scheduled",
        condition(
          "Synchronized",
          "False",
          "Synchronizing with the Domain failed.",
          "failed to configure vmi network: no such bridge",
        ),
      ),
    },
    "network-bound",
    /guest's network: no such bridge/,
  ],
  [
    "a container disk on the node",
    {
      vmi: vmi("Scheduled"),
      events: [
        event("VirtualMachineInstance", "SyncFailed", "failed to mount container disk: no image"),
      ],
    },
    "prepared",
    /could not start the guest.*no image/,
  ],
  [
    "a device on the node, according to the VMI",
    {
      vmi: vmi("Scheduled", condition("Synchronized", "False", "x", "no /dev/kvm on this node")),
    },
    "prepared",
    /no \/dev\/kvm/,
  ],
  [
    "libvirt's error about a network is the launcher's failure",
    {
      vmi: vmi("Scheduled"),
      events: [
        event(
          "VirtualMachineInstance",
          "SyncFailed",
          "server error. command SyncVMI failed: network interface model is not supported",
        ),
      ],
    },
    "domain-defined",
    /model is not supported/,
  ],
  [
    "libvirt",
    {
      vmi: vmi("Scheduled"),
      events: [
        event(
          "VirtualMachineInstance",
          "SyncFailed",
          "server error. command SyncVMI failed: unsupported machine type",
        ),
      ],
    },
    "domain-defined",
    /could not start the guest.*unsupported machine type/,
  ],
  [
    "a container that is not ready",
    {
      vmi: vmi("Scheduling"),
      pod: pod(
        {
          phase: "Running",
          conditions: [
            condition(
              "ContainersReady",
              "False",
              "ContainersNotReady",
              "containers with unready status: [guest-console-log]",
            ),
          ],
        },
        { nodeName: "n" },
      ),
    },
    "launcher-ready",
    /not ready.*guest-console-log/,
  ],
  [
    "a Pod that ended",
    {
      vmi: vmi("Scheduling"),
      pod: pod(
        {
          phase: "Failed",
          containerStatuses: [
            { name: "compute", state: { terminated: { exitCode: 137, reason: "OOMKilled" } } },
          ],
        },
        { nodeName: "n" },
      ),
    },
    "pod-running",
    /more memory than its limit/,
  ],
  [
    "a guest that is paused",
    {
      vmi: vmi(
        "Running",
        condition("Ready", "False", "GuestNotRunning"),
        condition("Paused", "True", "PausedIOError", "VMI was paused, low-level IO error detected"),
      ),
    },
    "ready",
    /paused: VMI was paused, low-level IO error/,
  ],
  [
    "a guest whose probe fails",
    { vmi: vmi("Running", condition("Ready", "False", "ContainersNotReady", "probe")) },
    "ready",
    /not ready: probe/,
  ],
] as const)("%s", (_, input, stage, words) => {
  const found = open(input as TimelineInput);
  expect(found?.stage).toBe(stage);
  expect(found?.reason).toMatch(words);
});

test("a failed VMI shows that at the stage that it did not pass", () => {
  const failed = (transitions: object[], reason?: string): VirtualMachineInstance => ({
    ...vmi("Failed"),
    status: {
      phase: "Failed",
      phaseTransitionTimestamps: transitions as never,
      ...(reason ? { reason } : {}),
    },
  });
  expect(open({ vmi: failed([]) })).toMatchObject({ stage: "pod-created", state: "failed" });
  expect(open({ vmi: failed(reached("Scheduling")) })?.stage).toBe("launcher-ready");
  const ran = open({ vmi: failed(reached("Running"), "NodeUnresponsive") });
  expect(ran).toMatchObject({ stage: "guest-running", state: "failed" });
  expect(ran?.reason).toContain("the node does not answer");
});

test("a VMI that failed with its Pod ended where the Pod did, and nothing waits any more", () => {
  const failed = (status: object = {}): VirtualMachineInstance => ({
    ...vmi("Failed"),
    status: { phase: "Failed", ...status },
  });
  const ended = pod(
    {
      phase: "Failed",
      containerStatuses: [{ name: "compute", state: { terminated: { exitCode: 3 } } }],
    },
    { nodeName: "n" },
  );
  expect(states({ vmi: failed() })).toBe("dfuuuuuuuuuu");
  expect(states({ vmi: failed(), pod: ended })).toBe("dddfuuuuuuuu");
  expect(open({ vmi: failed(), pod: ended })?.reason).toContain("exit code 3");

  const ran = failed({ phaseTransitionTimestamps: reached("Running") });
  expect(states({ vmi: ran, pod: ended })).toBe("ddddduuuufuu");
  expect(open({ vmi: ran, pod: ended })?.reason).toMatch(/ran and ended in failure: .*code 3/);

  const unscheduled = pod({
    phase: "Pending",
    conditions: [condition("PodScheduled", "False", "Unschedulable", "no memory")],
  });
  const never = { vmi: failed(), pod: unscheduled };
  expect(states(never)).toBe("ddfuuuuuuuuu");
  expect(open(never)?.reason).toMatch(/failed before the guest ran: .*no memory/);
});

test("what is left of a guest that ran does not hide its failure", () => {
  const left = [condition("AgentConnected", "True"), condition("Ready", "False", "PodTerminating")];
  const subject = vmi("Running", ...left);
  const input = { vmi: { ...subject, status: { ...subject.status, phase: "Failed" } } };
  expect(states(input)).toBe("ddddduuuufud");
  expect(open(input)?.stage).toBe("guest-running");
});

test.each([5, "text", {}, [], { metadata: 5 }, { kind: "Service", metadata: { name: "x" } }])(
  "%j is not a Pod and shows nothing",
  (odd) => {
    const subject = { spec: { domain: { devices: {} } } } as VirtualMachineInstance;
    expect(states({ vmi: subject, pod: odd as never })).toBe("uuuuuuuuuuuu");
    const named = { kind: "Pod", metadata: { name: "x" } };
    expect(states({ vmi: subject, pod: named })[1]).toBe("d");
  },
);

test("a guest that has shut down is no longer ready", () => {
  const ended = { ...vmi("Succeeded"), status: { phase: "Succeeded" } };
  expect(open({ vmi: ended })).toMatchObject({ stage: "ready", reason: "the guest has shut down" });
});

test("an old obstacle does not count against a later stage that is done", () => {
  const events = [event("VirtualMachineInstance", "FailedCreate", "exceeded quota: q, x", 0)];
  const input = { vmi: vmi("Running", condition("Ready", "True")), events };
  expect(open(input)).toBeUndefined();
  expect(handoffs(input)[1]?.state).toBe("done");
});

test("an agent that answers does not make a VMI ready, and a probe does not hold up the agent", () => {
  const agent = condition("AgentConnected", "True");
  const failing = { vmi: vmi("Running", condition("Ready", "False"), agent) };
  expect(states(failing)).toBe("ddddduuuudwd");
  expect(open(failing)?.stage).toBe("ready");
  const trace = [{ stage: "ready", state: "waiting" } as const];
  expect(states({ vmi: vmi("Scheduled"), trace })).toBe("ddddduuuuwww");
  const bare = { spec: { domain: { devices: {} } } } as VirtualMachineInstance;
  expect(states({ vmi: bare, trace }).slice(-2)).toBe("wu");
});

/** What each side of the node writes when its part fails. */
test.each([
  ["prepared", "step disk/root of Pod p: no such file"],
  ["network-bound", "step network of Pod p: no link eth0"],
  ["claimed", "process 7 of Pod q holds claim 1"],
  ["domain-defined", "unsupported machine type"],
  ["guest-running", "QEMU: cannot allocate memory"],
] as const)("a start that failed at %s says so, and why", (stage, message) => {
  const before = stages.slice(0, stages.indexOf(stage)).map((each) => ({ stage: each }));
  const trace = [...before, { stage, state: "failed" as const, message }];
  const input = { vmi: vmi("Scheduled"), trace };
  expect(open(input)).toMatchObject({ stage, state: "failed", reason: message });
  expect(states(input).slice(0, stages.indexOf(stage))).toMatch(/^d+$/);
  expect(states(input).slice(stages.indexOf(stage) + 1)).toMatch(/^w+$/);
});

test("a missing agent does not hold up a VMI", () => {
  const list = handoffs({ vmi: vmi("Running", condition("Ready", "True")) });
  expect(list.at(-1)).toMatchObject({ stage: "agent-connected", state: "waiting" });
  expect(firstOpenHandoff(list)).toBeUndefined();
});

test("ignores a Pod of another VMI, and events about others", () => {
  const other = pod(
    { phase: "Running" },
    { nodeName: "n" },
    { labels: { "kubevirt.io/created-by": "x" } },
  );
  expect(states({ vmi: vmi("Pending"), pod: other })).toBe("dwwwwwwwwwww");
  const strange = {
    ...event("VirtualMachineInstance", "FailedCreate", "no"),
    involvedObject: { kind: "VirtualMachineInstance", name: "web", uid: "older" },
  };
  expect(open({ vmi: vmi("Pending"), events: [strange] })?.reason).toBeUndefined();
});

test("there is one handoff for each stage, in order, whatever the input", () => {
  for (const input of [
    {},
    { vmi: null },
    { vmi: 1, pod: "x", events: {}, trace: [null, { stage: "x" }] },
  ]) {
    const list = handoffs(input as unknown as TimelineInput);
    expect(list.map(({ stage }) => stage)).toEqual([...stages]);
  }
});

test("text from a guest or an image cannot control a terminal, and is cut", () => {
  const words = `\u001b[2J\u0007gone${"x".repeat(1000)}`;
  const input = { vmi: vmi("Running", condition("Ready", "False", "Odd\u001b", words)) };
  const reason = open(input)?.reason ?? "";
  expect(reason).toContain("[2J gone");
  expect(reason).not.toMatch(/\p{Cc}/u);
  expect(reason.length).toBeLessThan(500);
});
