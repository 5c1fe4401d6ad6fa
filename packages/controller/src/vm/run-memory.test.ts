import {
  decodeGrant,
  encodeGrant,
  encodeMemory,
  type Grant,
  grantAnnotation,
  type Holder,
  type RememberedRun,
  readMemory,
  runMemoryCondition,
} from "@virtkit/api/grant";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { config, now, vmiOf, vmOf, writesOf } from "../testing/vm-objects.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { vmMemory } from "../vmi/vm-memory.ts";
import { planVm } from "./plan-vm.ts";
import type { VmPlan } from "./settle-vm.ts";
import type { VmGrantView, VmPassView } from "./vm-view.ts";

const { names } = config;

function holder(podUID: string, node = "n1"): Holder {
  const ids = { machineID: `m-${node}`, bootID: `b-${node}`, nonce: "x" };
  return { podUID, containerID: `containerd://${podUID}`, node, ...ids };
}

function granted(phase: string, grant: Grant): VirtualMachineInstance {
  const annotations = { [names.own(grantAnnotation)]: encodeGrant(grant) };
  return vmiOf(phase, { metadata: { ...vmiOf(phase).metadata, annotations } });
}

const count = { vmiUID: "vmi-uid", epoch: 1 } as const;
const free: Grant = { state: "Free", vmiUID: "", epoch: 0, seq: 0 };
const claimed: Grant = { ...count, state: "Claimed", seq: 2, holder: holder("p1") };
const ended: Grant = { ...count, state: "Ended", seq: 3 };

function pod(uid: string, vmiUID = "vmi-uid"): PodObject {
  const owner = { apiVersion: "v1", kind: "VirtualMachineInstance", name: "vm", uid: vmiUID };
  return {
    metadata: {
      name: uid,
      namespace: "ns",
      uid,
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { nodeName: "n1" },
    status: { phase: "Running" },
  };
}

function remembering(runs: readonly RememberedRun[], vm: VirtualMachine = vmOf("Always")) {
  const type = names.own(runMemoryCondition);
  const is = { status: "True", reason: "Remembered" } as const;
  const condition = { type, ...is, message: encodeMemory(runs) };
  return { ...vm, status: { ...vm.status, conditions: [condition] } } as VirtualMachine;
}

const nothing: VmGrantView = { isLive: true, pods: [], nodes: [] };

function plan(view: Omit<VmPassView, "grant">, grant: Partial<VmGrantView> = {}): VmPlan {
  return planVm({ ...view, grant: { ...nothing, ...grant } }, config, now);
}

function runsAfter({ status }: VmPlan): readonly RememberedRun[] | undefined {
  const memory = readMemory({ status }, names);
  return "runs" in memory ? memory.runs : undefined;
}

const status = "patch virtualmachines/status";

describe("a VM remembers its VMI", () => {
  test("as soon as it sees the VMI, because no Pod is granted before", () => {
    const vmi = granted("", free);
    const first = plan({ vm: vmOf("Always"), vmi });
    expect(writesOf(first)).toEqual([status]);
    expect(runsAfter(first)).toEqual([{ vmiUID: "vmi-uid" }]);
    const memory = (vm: VirtualMachine) => vmMemory(vmi, vm, { names, pods: [] });
    expect(memory(vmOf("Always")).isRemembered("p1")).toBe(false);
    expect(memory(remembering([{ vmiUID: "vmi-uid" }])).isRemembered("p1")).toBe(true);
  });

  test("by a live read, because a cache may show a VMI that is gone and forgotten", () => {
    const cached = { isLive: false };
    for (const grant of [free, claimed])
      expect(plan({ vm: vmOf("Always"), vmi: granted("", grant) }, cached).needsLiveRead).toBe(
        true,
      );
    const vm = remembering([{ vmiUID: "vmi-uid" }]);
    expect(plan({ vm, vmi: granted("", free) }, cached).needsLiveRead).toBeUndefined();
  });

  test("with its holder, in the next write rather than in a separate one", () => {
    const vm = remembering([{ vmiUID: "vmi-uid" }]);
    const running = plan({ vm, vmi: granted("Running", claimed) });
    expect(runsAfter(running)).toEqual([
      { vmiUID: "vmi-uid", pods: [{ podUID: "p1", seq: 2, holder: holder("p1") }] },
    ]);
  });

  test("with the target of a migration, before the guest is handed over to it", () => {
    const pods = [{ podUID: "p1", seq: 2, holder: holder("p1") }];
    const vm = remembering([{ vmiUID: "vmi-uid", pods }]);
    const vmi = granted("Running", claimed);
    expect(vmMemory(vmi, vm, { names, pods: [] }).isRemembered("p2")).toBe(false);
    const next = plan({ vm, vmi }, { pods: [pod("p1"), pod("p2")] });
    expect(writesOf(next)).toContain(status);
    expect(runsAfter(next)).toEqual([
      { vmiUID: "vmi-uid", pods: [...pods, { podUID: "p2", seq: 2 }] },
    ]);
  });

  test("and does not trust an old view", () => {
    const both = [
      { podUID: "p1", seq: 5, holder: holder("p1") },
      { podUID: "p2", seq: 5, holder: holder("p2", "n2") },
    ];
    const vm = remembering([{ vmiUID: "vmi-uid", pods: both }]);
    const [run] = runsAfter(plan({ vm, vmi: granted("Running", claimed) })) ?? [];
    expect(run?.pods?.map(({ podUID }) => podUID)).toEqual(["p1", "p2"]);
    const moved: Grant = {
      ...count,
      epoch: 2,
      state: "Claimed",
      seq: 7,
      holder: holder("p2", "n2"),
    };
    const [after] = runsAfter(plan({ vm, vmi: granted("Running", moved) })) ?? [];
    expect(after?.pods?.map(({ podUID }) => podUID)).toEqual(["p2"]);
  });

  test("until the grant has ended, and only then releases the VMI", () => {
    const vm = remembering([{ vmiUID: "vmi-uid" }], vmOf("Halted"));
    const deleting = (grant: Grant): VirtualMachineInstance => {
      const vmi = granted("Succeeded", grant);
      const deletionTimestamp = "2026-01-01T00:00:00Z";
      return { ...vmi, metadata: { ...vmi.metadata, deletionTimestamp } };
    };
    expect(writesOf(plan({ vm, vmi: deleting(claimed) }))).not.toContain(
      "patch virtualmachineinstances",
    );
    const over = plan({ vm, vmi: deleting(ended) });
    expect(writesOf(over)).toEqual([status, "patch virtualmachineinstances"]);
    expect(runsAfter(over)).toEqual([]);
  });
});

describe("a VMI that was removed by force", () => {
  const run = { vmiUID: "old", pods: [{ podUID: "p0", seq: 2, holder: holder("p0") }] };
  const node = (bootID: string) => ({
    metadata: { name: "n1" },
    status: { nodeInfo: { machineID: "m-n1", bootID } },
  });

  test("is remembered, and the next VMI gets no grant until its end is proven", () => {
    const vmi = granted("", free);
    const vm = remembering([run, { vmiUID: "vmi-uid" }]);
    const stays = plan({ vm, vmi }, { nodes: [node("b-n1")] });
    expect(runsAfter(stays)).toEqual([run, { vmiUID: "vmi-uid" }]);
    expect(vmMemory(vmi, vm, { names, pods: [] }).remembered.map(({ holder }) => holder)).toEqual([
      holder("p0"),
    ]);
    const rebooted = plan({ vm, vmi }, { nodes: [node("another")] });
    expect(writesOf(rebooted)).toEqual([status]);
    expect(runsAfter(rebooted)).toEqual([{ vmiUID: "vmi-uid" }]);
  });

  test("holds a VM that is being deleted", () => {
    const vm = remembering([run]);
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const going = { ...vm, metadata: { ...vm.metadata, deletionTimestamp } };
    const kept = plan({ vm: going }, { nodes: [node("b-n1")] });
    expect(writesOf(kept)).not.toContain("patch virtualmachines");
    expect(kept.error).toMatchObject({ reason: "RunGrantRefused" });
    expect(kept.error?.message).toContain("node n1");
    expect(writesOf(plan({ vm: going }, { nodes: [node("another")] }))).toContain(
      "patch virtualmachines",
    );
  });

  test("cannot be proven to have ended if nobody knew where it ran, and says what to do", () => {
    const vmi = granted("", free);
    const vm = remembering([{ vmiUID: "old" }, { vmiUID: "vmi-uid" }]);
    const runs = runsAfter(plan({ vm, vmi }, { nodes: [node("another")] }));
    expect(runs).toHaveLength(2);
    const { remembered, advice } = vmMemory(vmi, vm, { names, pods: [] });
    expect(remembered).toHaveLength(1);
    expect(advice).toContain(names.own(runMemoryCondition));
  });

  test("is not judged by a cache", () => {
    const vm = remembering([run]);
    expect(plan({ vm, vmi: granted("", free) }, { isLive: false }).needsLiveRead).toBe(true);
  });
});

describe("writes what is remembered although no other condition has changed", () => {
  const pods = [{ podUID: "p1", seq: 2, holder: holder("p1") }];
  const old = { vmiUID: "old", pods: [{ podUID: "p0", seq: 2, holder: holder("p0", "n2") }] };
  const node = (name: string, bootID: string) => ({
    metadata: { name },
    status: { nodeInfo: { machineID: `m-${name}`, bootID } },
  });
  const vmi = granted("Running", claimed);

  /** A VM for which a pass has nothing more to write. */
  function settled(runs: readonly RememberedRun[], grant: Partial<VmGrantView>): VirtualMachine {
    const vm = remembering(runs);
    return { ...vm, status: plan({ vm, vmi }, grant).status } as VirtualMachine;
  }

  test("the target of a migration", () => {
    const vm = settled([{ vmiUID: "vmi-uid", pods }], { pods: [pod("p1")] });
    expect(writesOf(plan({ vm, vmi }, { pods: [pod("p1")] }))).not.toContain(status);
    const next = plan({ vm, vmi }, { pods: [pod("p1"), pod("p2")] });
    expect(writesOf(next)).toContain(status);
    expect(runsAfter(next)).toEqual([
      { vmiUID: "vmi-uid", pods: [...pods, { podUID: "p2", seq: 2 }] },
    ]);
  });

  test("that another VMI is proven to have ended", () => {
    const runs = [old, { vmiUID: "vmi-uid", pods }];
    const unproven = { pods: [pod("p1")], nodes: [node("n2", "b-n2")] };
    const vm = settled(runs, unproven);
    expect(writesOf(plan({ vm, vmi }, unproven))).not.toContain(status);
    const next = plan({ vm, vmi }, { ...unproven, nodes: [node("n2", "another")] });
    expect(writesOf(next)).toContain(status);
    expect(runsAfter(next)).toEqual([{ vmiUID: "vmi-uid", pods }]);
  });
});

test("does not overwrite a memory that cannot be read, and starts nothing", () => {
  const type = names.own(runMemoryCondition);
  const conditions = [{ type, status: "True", message: "{" }];
  const vm = vmOf("Always", { status: { conditions } as never });
  const { error, writes, status: next } = plan({ vm });
  expect(error).toMatchObject({ reason: "RunGrantRefused" });
  expect(writes.map(({ kind }) => kind)).not.toContain("delete");
  expect(writesOf({ writes, events: [] })).not.toContain("create virtualmachineinstances");
  expect(next?.conditions).toContainEqual(conditions[0]);
  expect(vmMemory(granted("", free), vm, { names, pods: [] }).isRemembered("p1")).toBe(false);
});

test("creates a VMI only after a live read, with a free grant", () => {
  const vm = vmOf("Always");
  expect(plan({ vm }, { isLive: false })).toEqual({ writes: [], events: [], needsLiveRead: true });
  const { writes } = plan({ vm });
  const made = writes.find(({ resource }) => resource.plural === "virtualmachineinstances");
  const object = made?.kind === "create" ? made.object : undefined;
  const value = object?.metadata.annotations?.[names.own(grantAnnotation)];
  expect(decodeGrant(value, "").state).toBe("Free");
  expect(object?.metadata.finalizers).toEqual([names.finalizers.vm, names.finalizers.vmi]);
});

test("a missing VMI releases a VM only after a live read", () => {
  const vm = vmOf("Always");
  const going = { ...vm, metadata: { ...vm.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  expect(plan({ vm: going }, { isLive: false }).needsLiveRead).toBe(true);
  expect(writesOf(plan({ vm: going }))).toContain("patch virtualmachines");
});
