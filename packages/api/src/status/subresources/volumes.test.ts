import { expect, test } from "vitest";
import type { VirtualMachine, VirtualMachineInstance } from "../../schema/index.ts";
import { planVmiVolume, planVmVolume, type VolumeRequest } from "./volumes.ts";

const declarative = { hotplug: false, declarative: true };
const queued = { hotplug: true, declarative: true };
const volumes = [
  { name: "root", containerDisk: { image: "i" } },
  { name: "data", persistentVolumeClaim: { claimName: "pvc", hotpluggable: true } },
];
const disks = [{ name: "root" }, { name: "data" }];
const spec = { domain: { devices: { disks } }, volumes };
const vm = (status: VirtualMachine["status"] = {}): VirtualMachine => ({
  metadata: { name: "web" },
  spec: { template: { spec } },
  status,
});
const vmi = (phase: string, extra: object = {}): VirtualMachineInstance => ({
  metadata: { name: "web", ...extra },
  spec,
  status: { phase },
});
const add = (name: string, claimName = "new"): VolumeRequest => ({
  add: {
    name,
    disk: { name, disk: { bus: "scsi" } },
    volumeSource: { persistentVolumeClaim: { claimName } },
  },
});
const remove = (name: string): VolumeRequest => ({ remove: { name } });

test("adds a volume to the template, marked as hotpluggable", () => {
  const outcome = planVmVolume(vm(), add("extra"), declarative);
  expect(outcome).toMatchObject({ code: 202 });
  if (outcome.kind !== "accepted" || outcome.writes[0]?.kind !== "patch")
    throw new Error("no patch");
  const [testVolumes, testDisks, setVolumes, setDisks] = outcome.writes[0].patch;
  expect(testVolumes).toEqual({ op: "test", path: "/spec/template/spec/volumes", value: volumes });
  expect(testDisks).toMatchObject({ op: "test", value: disks });
  expect(setVolumes).toMatchObject({ op: "replace" });
  expect(setVolumes?.value).toContainEqual({
    name: "extra",
    persistentVolumeClaim: { claimName: "new", hotpluggable: true },
  });
  expect(setDisks?.value).toContainEqual({ name: "extra", disk: { bus: "scsi" } });
});

test.each([
  ["a name that is taken", add("root"), 409],
  ["a claim that is in use", add("x", "pvc"), 409],
  ["removing it", remove("data"), 202],
  ["removing it by its claim", remove("pvc"), 202],
  ["removing a permanent one", remove("root"), 409],
  ["removing none", remove("nope"), 409],
  ["no name", remove(""), 400],
  ["no disk", { add: { name: "x", volumeSource: {} } } as VolumeRequest, 400],
  ["no source", { add: { name: "x", disk: { name: "x" } } } as VolumeRequest, 400],
] as const)("%s", (_, request, code) => {
  expect(planVmVolume(vm(), request, declarative).code).toBe(code);
  expect(planVmiVolume(vmi("Running"), request, declarative).code).toBe(code);
});

test("does nothing without a gate", () => {
  const off = { hotplug: false, declarative: false };
  expect(planVmVolume(vm(), add("x"), off).code).toBe(400);
});

test("a VMI must run, and a VM's VMI is left to the VM", () => {
  expect(planVmiVolume(vmi("Scheduled"), add("x"), declarative).code).toBe(409);
  const ownerReferences = [
    { apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", controller: true },
  ];
  const owned = vmi("Running", { ownerReferences });
  expect(planVmiVolume(owned, add("x"), declarative).code).toBe(400);
  expect(planVmiVolume(owned, add("x"), queued).code).toBe(202);
});

test("queues one request per volume; removing cancels a pending addition", () => {
  const waits = { addVolumeOptions: { name: "data", disk: { name: "data" }, volumeSource: {} } };
  expect(planVmVolume(vm({ volumeRequests: [waits] }), remove("data"), queued)).toMatchObject({
    writes: [
      {
        subresource: "status",
        patch: [
          { op: "test" },
          { op: "replace", value: [{ removeVolumeOptions: { name: "data" } }] },
        ],
      },
    ],
  });
  const removes = { removeVolumeOptions: { name: "data" } };
  expect(planVmVolume(vm({ volumeRequests: [removes] }), remove("data"), queued).code).toBe(409);
});
