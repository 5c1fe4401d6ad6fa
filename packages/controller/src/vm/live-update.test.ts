import type { VirtualMachineInstanceSpec } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { plan, startRevision, vmiOf, vmOf, writesOf } from "../testing/vm-objects.ts";
import type { VmPlan } from "./settle-vm.ts";

const cpu = { sockets: 1, cores: 1, threads: 1, maxSockets: 4 };
const uuid = { firmware: { uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" } };
const domain = { ...uuid, cpu, memory: { guest: "1Gi", maxGuest: "4Gi" }, devices: {} };
const status = {
  conditions: [
    { type: "Ready", status: "True" },
    { type: "LiveMigratable", status: "True" },
  ],
  memory: { guestAtBoot: "1Gi", guestCurrent: "1Gi", guestRequested: "1Gi" },
};

/** A running VM whose template changed after its start. */
function changed(
  template: Partial<VirtualMachineInstanceSpec>,
  running: Partial<typeof status> = {},
): VmPlan {
  const vmi = vmiOf("Running", { spec: { domain }, status: { ...status, ...running } });
  const started = vmOf("Always", { template: { domain } });
  const vm = vmOf("Always", { template: { domain, ...template } });
  return plan({ vm, vmi, revisions: [startRevision(started)] });
}

function vmiPatch({ writes }: VmPlan): unknown {
  const write = writes.find(({ resource }) => resource.plural === "virtualmachineinstances");
  return write?.kind === "patch" ? write.operations.filter(({ op }) => op !== "test") : undefined;
}

function waitsForRestart({ status }: VmPlan): boolean {
  return status?.conditions?.some(({ type }) => type === "RestartRequired") ?? false;
}

test("more sockets reach the guest, fewer wait for a restart", () => {
  const more = changed({ domain: { ...domain, cpu: { ...cpu, sockets: 2 } } });
  expect(vmiPatch(more)).toEqual([{ op: "replace", path: "/spec/domain/cpu/sockets", value: 2 }]);
  expect(waitsForRestart(more)).toBe(false);
  const tooMany = changed({ domain: { ...domain, cpu: { ...cpu, sockets: 8 } } });
  expect([vmiPatch(tooMany), waitsForRestart(tooMany)]).toEqual([undefined, true]);
});

test("a restart that is due for another reason than before says so, once", () => {
  const vmi = vmiOf("Running", { spec: { domain }, status });
  const revisions = [startRevision(vmOf("Always", { template: { domain } }))];
  const waiting = (template: object, before?: VmPlan) => {
    const vm = vmOf("Always", { template: { domain, ...template }, status: before?.status ?? {} });
    return plan({ vm, vmi, revisions });
  };
  const messageOf = ({ status: found }: VmPlan): string | undefined =>
    found?.conditions?.find(({ type }) => type === "RestartRequired")?.message;
  const first = waiting({ hostname: "other" });
  expect(messageOf(first)).toContain("spec.hostname");
  const next = waiting({ terminationGracePeriodSeconds: 5 }, first);
  expect(messageOf(next)).toContain("spec.terminationGracePeriodSeconds");
  expect(messageOf(next)).not.toContain("hostname");
  expect(writesOf(next)).toEqual(["patch virtualmachines/status"]);
  expect(writesOf(waiting({ terminationGracePeriodSeconds: 5 }, next))).toEqual([]);
});

test("changed memory reaches a guest that can migrate, and otherwise waits for a restart", () => {
  const memory = { ...domain.memory, guest: "2Gi" };
  const more = changed({ domain: { ...domain, memory } });
  expect(vmiPatch(more)).toEqual([
    { op: "replace", path: "/spec/domain/memory/guest", value: "2Gi" },
  ]);
  const fixed = changed({ domain: { ...domain, memory } }, { conditions: [] });
  expect([vmiPatch(fixed), waitsForRestart(fixed)]).toEqual([undefined, true]);
});

test("fails and tries again while another memory change is in progress", () => {
  const conditions = [...status.conditions, { type: "HotMemoryChange", status: "True" }];
  const memory = { ...domain.memory, guest: "2Gi" };
  const busy = changed({ domain: { ...domain, memory } }, { conditions });
  expect(busy.error).toMatchObject({ kind: "sync", reason: "HotPlugMemoryError" });
});

test("copies placement rules to the VMI in one patch", () => {
  const placed = changed({ nodeSelector: { zone: "a" }, affinity: { nodeAffinity: {} } });
  expect(vmiPatch(placed)).toEqual([
    { op: "add", path: "/spec/affinity", value: { nodeAffinity: {} } },
    { op: "add", path: "/spec/nodeSelector", value: { zone: "a" } },
  ]);
});

test("changes nothing live while a restart is due for another reason", () => {
  const both = changed({
    terminationGracePeriodSeconds: 5,
    domain: { ...domain, cpu: { ...cpu, sockets: 2 } },
  });
  expect([vmiPatch(both), waitsForRestart(both)]).toEqual([undefined, true]);
});

test("adds a requested volume to the VM and the VMI with one patch each", () => {
  const vmi = vmiOf("Running", { spec: { domain }, status });
  const source = { persistentVolumeClaim: { claimName: "data" } };
  const options = { name: "data", disk: { disk: { bus: "scsi" } }, volumeSource: source };
  const vm = vmOf("Always", {
    template: { domain },
    status: { volumeRequests: [{ addVolumeOptions: options }] },
  } as Parameters<typeof vmOf>[1]);
  const added = plan({ vm, vmi });
  expect(writesOf(added)).toEqual([
    "patch virtualmachineinstances",
    "patch virtualmachines",
    "patch virtualmachines/status",
  ]);
  const volume = { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } };
  expect(vmiPatch(added)).toContainEqual({ op: "add", path: "/spec/volumes", value: [volume] });
  expect(added.status?.volumeRequests).toBeUndefined();
});
