import type { VirtualMachineInstance } from "@virtkit/api/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { planAccess } from "./access/plan-access.ts";
import { readCloudInit } from "./cloud-init/cloud-init-data.ts";
import { cloudInitMedia } from "./cloud-init/cloud-init-media.ts";
import { deviceMetadata } from "./cloud-init/device-metadata.ts";
import { readLiveDevices } from "./cloud-init/live-devices.ts";
import { kernelBootFiles } from "./container-disk.ts";
import { isDiskError } from "./disk-error.ts";
import { planHostDisks } from "./host-disk.ts";
import { planDisks } from "./plan-disks.ts";

const address = '<address type="pci" domain="0x0000" bus="0x01" slot="0x00" function="0x0"/>';
const live = readLiveDevices(
  `<domain><devices><hostdev><source>${address}</source><alias name="ua-hostdevice-a"/>${address}</hostdev></devices></domain>`,
);

/** Runs every planner on one VMI. */
const planners: Readonly<Record<string, (vmi: VirtualMachineInstance) => unknown>> = {
  readCloudInit: (vmi) => {
    const data = readCloudInit(vmi, new Map());
    return data && cloudInitMedia(vmi, data);
  },
  deviceMetadata: (vmi) => deviceMetadata(vmi, live),
  planAccess: (vmi) => planAccess(vmi, new Map()),
  planDisks: (vmi) => planDisks(vmi),
  planHostDisks: (vmi) => planHostDisks(vmi),
  kernelBootFiles: (vmi) => kernelBootFiles(vmi),
};

/** A well-formed VMI with something of everything. */
const whole = {
  metadata: { name: "vm1", namespace: "ns", annotations: { "kubevirt.io/ignitiondata": "{}" } },
  spec: {
    domain: {
      cpu: {},
      devices: {
        disks: [{ name: "cm" }],
        interfaces: [{ name: "a", tag: "t" }],
        hostDevices: [{ name: "a", deviceName: "v/x", tag: "t" }],
      },
      firmware: {
        uuid: "u",
        kernelBoot: { container: { image: "x", kernelPath: "/k", initrdPath: "/i" } },
      },
    },
    volumes: [
      { name: "ci", cloudInitNoCloud: { userData: "x", secretRef: { name: "s" } } },
      { name: "cm", configMap: { name: "x", volumeLabel: "l" } },
      { name: "e", emptyDisk: { capacity: "1Gi" } },
      { name: "h", hostDisk: { type: "DiskOrCreate", path: "/a/b", capacity: "1Gi" } },
    ],
    accessCredentials: [
      {
        sshPublicKey: {
          source: { secret: { secretName: "s" } },
          propagationMethod: { qemuGuestAgent: { users: ["u"] } },
        },
      },
    ],
  },
};

/** The VMI with one of its values replaced. */
function mutated(path: readonly number[], value: unknown): VirtualMachineInstance {
  const copy: unknown = structuredClone(whole);
  let holder = copy as Record<string, unknown>;
  for (const step of path) {
    const keys = Object.keys(holder);
    const key = keys[step % keys.length] ?? "";
    const next = holder[key];
    if (typeof next !== "object" || next === null || step % 7 === 0) {
      holder[key] = value;
      break;
    }
    holder = next as Record<string, unknown>;
  }
  return copy as VirtualMachineInstance;
}

function attack(run: (vmi: VirtualMachineInstance) => unknown): void {
  const odd = fc.constantFrom<unknown>(null, 0, "text", true, [], [null], {}, { length: 3 });
  const path = fc.array(fc.nat(20), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(path, odd, (steps, value) => {
      try {
        run(mutated(steps, value));
      } catch (error) {
        if (!isDiskError(error)) throw error;
      }
    }),
    { numRuns: 400 },
  );
}

test.each(Object.entries(planners))("%s answers or rejects any VMI", (_, run) => {
  run(whole as VirtualMachineInstance);
  attack(run);
});

test("the same attack finds a planner that trusts the VMI", () => {
  expect(() => attack((vmi) => vmi.spec.volumes?.map(({ name }) => name.length))).toThrow(
    /Property failed/,
  );
});

test("the error names the first place with a wrong shape, and quotes nothing", () => {
  const vmi = { spec: { domain: {}, volumes: [{ name: "a" }, "hunter2", null] } };
  expect(() => planDisks(vmi as unknown as VirtualMachineInstance)).toThrow(
    expect.objectContaining({
      path: "spec.volumes[1]",
      message: expect.not.stringContaining("hunter2"),
    }),
  );
});
