import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../schema/index.ts";
import { legacyFirmwareUuid } from "./legacy-firmware-uuid.ts";
import { vmiFromVm } from "./vmi-from-vm.ts";

const config = clusterConfig();

function made(
  spec: VirtualMachineInstance["spec"],
  status: VirtualMachine["status"] = {},
  metadata: VirtualMachine["metadata"] = {},
): VirtualMachineInstance {
  const vm: VirtualMachine = {
    metadata: { name: "web", namespace: "ns", uid: "u", generation: 7 },
    spec: { template: { metadata, spec } },
    status,
  };
  const result = vmiFromVm(vm, "revision", { config });
  if ("refused" in result) throw new Error(result.refused);
  return result.vmi;
}
const devices = { interfaces: [{ name: "n", masquerade: {} }] };

test("the VMI has the VM's name and owner, its generation, and a finalizer for the VM", () => {
  const vmi = made(
    { domain: { devices } },
    {},
    {
      name: "x",
      generateName: "x-",
      labels: { a: "b" },
      annotations: { c: "d" },
      finalizers: ["f"],
    },
  );
  expect(vmi.metadata).toEqual({
    name: "web",
    namespace: "ns",
    labels: { a: "b" },
    annotations: { c: "d", "kubevirt.io/vm-generation": "7" },
    ownerReferences: [
      {
        apiVersion: "kubevirt.io/v1",
        kind: "VirtualMachine",
        name: "web",
        uid: "u",
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    finalizers: ["f", "kubevirt.io/virtualMachineControllerFinalize"],
  });
  expect(vmi.status?.virtualMachineRevisionName).toBe("revision");
});

test("a VM without a firmware UUID gets the one derived from its name", () => {
  expect(legacyFirmwareUuid("testvm")).toBe("5a9fc181-957e-5c32-9e5a-2de5e9673531");
  const own = made({ domain: { devices, firmware: { uuid: "own" } } });
  expect(own.spec.domain.firmware?.uuid).toBe("own");
  expect(made({ domain: { devices } }).spec.domain.firmware?.uuid).toBe(legacyFirmwareUuid("web"));
});

test("a volume without a disk or a file system becomes a disk", () => {
  const vmi = made({
    domain: {
      devices: { ...devices, disks: [{ name: "a" }], filesystems: [{ name: "b", virtiofs: {} }] },
    },
    volumes: [{ name: "a" }, { name: "b" }, { name: "c" }],
  });
  expect(vmi.spec.domain.devices.disks).toEqual([{ name: "a" }, { name: "c" }]);
});

test("adds an input device, the default network and a paused start on request", () => {
  const vmi = made(
    { domain: { devices: { autoattachInputDevice: true } } },
    { stateChangeRequests: [{ action: "Start", data: { paused: "true" } }] },
  );
  expect(vmi.spec.domain.devices.inputs).toEqual([{ name: "default-0", type: "" }]);
  expect(vmi.spec.networks).toEqual([{ name: "default", pod: {} }]);
  expect(vmi.spec.startStrategy).toBe("Paused");
});

test("does not repeat a finished memory dump", () => {
  const spec = { domain: { devices }, volumes: [{ name: "dump" }, { name: "a" }] };
  const request = (phase: string) => ({ memoryDumpRequest: { claimName: "dump", phase } });
  expect(made(spec, request("Completed")).spec.volumes).toEqual([{ name: "a" }]);
  expect(made(spec, request("InProgress")).spec.volumes).toHaveLength(2);
});

test("does not change the template", () => {
  const spec = { domain: { devices: {} }, volumes: [{ name: "a" }] };
  const copy = structuredClone(spec);
  made(spec);
  expect(spec).toEqual(copy);
});
