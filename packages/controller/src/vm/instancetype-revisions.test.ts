import { expect, test } from "vitest";
import { plan, reasonsOf, refused, vmOf, writesOf } from "../testing/vm-objects.ts";
import type { ControllerRevision } from "./vm-view.ts";

const type = {
  apiVersion: "instancetype.kubevirt.io/v1beta1",
  kind: "VirtualMachineClusterInstancetype",
  metadata: { name: "small", uid: "t", generation: 3, labels: { a: "1" } },
  spec: { cpu: { guest: 2 }, memory: { guest: "2Gi" } },
};
const vm = vmOf("Halted", {
  instancetype: { name: "small" },
  template: { domain: { firmware: { uuid: "u" }, devices: {} } },
});
const name = "vm-small-v1beta1-t-3";
const view = { vm, clusterInstancetypes: [type] };

test("stores an instance type once, and the status refers to the copy", () => {
  const stored = plan(view);
  expect(writesOf(stored)).toEqual(["create controllerrevisions", "patch virtualmachines/status"]);
  expect(stored.writes[0]).toMatchObject({
    object: {
      metadata: { name },
      data: { metadata: { name: "small", uid: "t" }, spec: type.spec },
    },
  });
  expect(stored.status?.instancetypeRef).toEqual({
    name: "small",
    controllerRevisionRef: { name },
  });
});

test("uses the copy of an interrupted pass if it has the same content", () => {
  const revision = (spec: unknown): ControllerRevision => ({
    metadata: { name, namespace: "ns" },
    data: { spec },
  });
  const again = plan({ ...view, revisions: [revision(type.spec)] }, [refused("AlreadyExists")]);
  expect(again.error).toBeUndefined();
  expect(again.status?.instancetypeRef?.controllerRevisionRef).toEqual({ name });
  const other = plan({ ...view, revisions: [revision({})] }, [refused("AlreadyExists")]);
  expect(other.error).toMatchObject({ reason: "FailedCreate" });
  expect(reasonsOf(other)).toEqual(["FailedCreate"]);
});

test("names the field that both the VM and the instance type set", () => {
  const cpu = { sockets: 4 };
  const clashing = vmOf("Halted", {
    instancetype: { name: "small" },
    template: { domain: { cpu, firmware: { uuid: "u" }, devices: {} } },
  });
  const { error } = plan({ vm: clashing, clusterInstancetypes: [type] });
  expect(error?.message).toContain("spec.template.spec.domain.cpu.sockets");
});

test("names an instance type that does not exist", () => {
  expect(plan({ vm }).error).toMatchObject({ kind: "sync", reason: "FailedFindInstancetype" });
});
