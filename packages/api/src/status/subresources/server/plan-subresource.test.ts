import { expect, test } from "vitest";
import { clusterConfig } from "../../../config/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../../../schema/index.ts";
import { planSubresource } from "./plan-subresource.ts";
import { type RoutedRequest, routeSubresource } from "./route.ts";
import type { SubresourceLookup } from "./subresource-lookup.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceRequest } from "./subresource-request.ts";

const vm = {
  metadata: { name: "vm", namespace: "ns", uid: "vm-uid" },
  spec: { runStrategy: "Manual", template: { spec: { domain: { devices: {} } } } },
  status: { created: true },
} as unknown as VirtualMachine;
const vmi = {
  metadata: {
    name: "vm",
    namespace: "ns",
    uid: "vmi-uid",
    ownerReferences: [{ uid: "vm-uid", kind: "VirtualMachine", name: "vm", apiVersion: "x/v1" }],
  },
  spec: { domain: { devices: {} }, terminationGracePeriodSeconds: 180 },
  status: { phase: "Running", nodeName: "n1", interfaces: [{ ipAddress: "10.0.0.9" }] },
} as unknown as VirtualMachineInstance;

function lookup(parts: Partial<SubresourceLookup> = {}): SubresourceLookup {
  return {
    virtualMachine: async () => vm,
    virtualMachineInstance: async () => vmi,
    nodeAgent: async () => "10.1.1.1",
    node: async () => ({}),
    persistentVolumeClaim: async () => undefined,
    persistentVolumeClaims: async () => [],
    launcherPods: async () => [],
    cdiConfig: async () => undefined,
    instancetypeOf: async () => ({}),
    ...parts,
  };
}

async function plan(
  method: string,
  rest: string,
  more: Partial<SubresourceRequest> = {},
  parts: Partial<SubresourceLookup> = {},
): Promise<SubresourcePlan> {
  const path = `/apis/subresources.kubevirt.io/v1/namespaces/ns/${rest}`;
  const routed = routeSubresource(method, path) as RoutedRequest;
  const request = { ...routed, query: {}, body: "", upgrade: false, ...more };
  return planSubresource(request, { config: clusterConfig({}), lookup: lookup(parts) });
}

test("a call to the node names the VMI that was read, by UID", async () => {
  expect(await plan("PUT", "virtualmachineinstances/vm/pause", { body: "{}" })).toEqual({
    kind: "node",
    node: "n1",
    address: "10.1.1.1",
    vmiUid: "vmi-uid",
    request: { namespace: "ns", name: "vm", subresource: "pause", query: {} },
    body: "",
    code: 200,
  });
});

test("a stream without an upgrade does not reach the node", async () => {
  const refused = await plan("GET", "virtualmachineinstances/vm/console");
  expect(refused).toMatchObject({ kind: "refused", code: 400 });
  const upgraded = await plan("GET", "virtualmachineinstances/vm/console", { upgrade: true });
  expect(upgraded).toMatchObject({ kind: "node", request: { subresource: "console" } });
});

test("dials a VM's guest only if the VMI belongs to the VM", async () => {
  const forward = "virtualmachines/vm/portforward/22";
  expect(await plan("GET", forward, { upgrade: true })).toEqual({
    kind: "dial",
    protocol: "tcp",
    address: "10.0.0.9",
    port: 22,
  });
  const foreign = { ...vmi, metadata: { ...vmi.metadata, ownerReferences: [] } };
  const refused = await plan(
    "GET",
    forward,
    { upgrade: true },
    { virtualMachineInstance: async () => foreign as VirtualMachineInstance },
  );
  expect(refused).toMatchObject({ code: 409, details: { kind: "virtualmachine" } });
});

test.each(["0", "65536", "22x", "-1", "1e3"])("%s is not a port", async (port) => {
  const rest = `virtualmachines/vm/portforward/${port}`;
  expect(await plan("GET", rest, { upgrade: true })).toMatchObject({ code: 400 });
});

test("a failed forced restart restores the VMI's grace period", async () => {
  const planned = await plan("PUT", "virtualmachines/vm/restart", {
    body: '{"gracePeriodSeconds":0}',
  });
  expect(planned).toMatchObject({
    kind: "writes",
    undo: {
      resource: "virtualmachineinstances",
      patch: [
        { op: "test", value: 1 },
        { op: "replace", value: 180 },
      ],
    },
  });
});

test("a dry run of a migration stays a dry run", async () => {
  const planned = await plan("PUT", "virtualmachines/vm/migrate", { body: '{"dryRun":["All"]}' });
  expect(planned).toMatchObject({ writes: [{ kind: "create", dryRun: true }] });
});

test("virtctl's request cancels the evacuation in progress", async () => {
  const leaving = { ...vmi, status: { ...vmi.status, evacuationNodeName: "n1" } };
  const planned = await plan(
    "PUT",
    "virtualmachineinstances/vm/evacuate/cancel",
    { body: '{"evacuationNodeName":""}' },
    { virtualMachineInstance: async () => leaving as VirtualMachineInstance },
  );
  expect(planned).toMatchObject({ writes: [{ patch: [{ op: "test", value: "n1" }, {}] }] });
});

test("passes a failed read on to the caller", async () => {
  const failing = plan(
    "PUT",
    "virtualmachineinstances/vm/pause",
    {},
    {
      virtualMachineInstance: () => Promise.reject(new Error("no answer")),
    },
  );
  await expect(failing).rejects.toThrow("no answer");
});
