import { expect, test } from "vitest";
import { type VirtualMachineInstance, VirtualMachineInstanceSchema } from "../schema/index.ts";
import { wireForm } from "./wire-form.ts";

function written(spec: unknown): unknown {
  return wireForm(VirtualMachineInstanceSchema, { spec } as VirtualMachineInstance).spec;
}

test("writes quantities in canonical form", () => {
  const domain = {
    memory: { guest: "1024Mi" },
    resources: { requests: { cpu: "1000m", memory: 1073741824 } },
    devices: {},
  };
  expect(written({ domain })).toEqual({
    domain: {
      memory: { guest: "1Gi" },
      resources: { requests: { cpu: "1", memory: "1073741824" } },
      devices: {},
    },
  });
});

test("leaves out what is empty or has no meaning", () => {
  const domain = {
    cpu: { cores: 0, dedicatedCpuPlacement: false, model: "" },
    features: null,
    devices: { disks: [], interfaces: [{ name: "a", bridge: {}, bootOrder: 0 }] },
  };
  expect(written({ domain, nodeSelector: {}, hostname: "" })).toEqual({
    domain: { cpu: {}, devices: { interfaces: [{ name: "a", bridge: {}, bootOrder: 0 }] } },
  });
});

test("keeps a zero that has a meaning", () => {
  const devices = {
    autoattachPodInterface: false,
    disks: [
      { name: "a", cdrom: { readonly: false } },
      { name: "b", disk: { readonly: false } },
    ],
  };
  const spec = { domain: { devices }, terminationGracePeriodSeconds: 0, evictionStrategy: "" };
  expect(written(spec)).toEqual({
    ...spec,
    domain: { devices: { ...devices, disks: [devices.disks[0], { name: "b", disk: {} }] } },
  });
});

test("keeps a zero only where it has a meaning", () => {
  const spec = {
    domain: { devices: { panicDevices: [{ model: "" }], interfaces: [{ name: "a", model: "" }] } },
    dnsConfig: { options: [{ name: "", value: "" }] },
    volumes: [
      { name: "a", containerPath: { path: "/", readOnly: false } },
      { name: "b", persistentVolumeClaim: { claimName: "b", readOnly: false } },
    ],
  };
  expect(written(spec)).toEqual({
    domain: { devices: { panicDevices: [{ model: "" }], interfaces: [{ name: "a" }] } },
    dnsConfig: { options: [{ value: "" }] },
    volumes: [spec.volumes[0], { name: "b", persistentVolumeClaim: { claimName: "b" } }],
  });
});

test("keeps unknown fields, and copies a wrong shape", () => {
  expect(written({ domain: 7, surprise: { a: [] } })).toEqual({ domain: 7, surprise: { a: [] } });
});

test("no key reaches the prototype", () => {
  const copy = written(JSON.parse('{"domain":{"__proto__":{"polluted":1}}}')) as { domain: object };
  expect("polluted" in copy.domain).toBe(false);
});
