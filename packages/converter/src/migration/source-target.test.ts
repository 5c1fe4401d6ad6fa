import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { sourceTarget } from "./source-target.ts";

function migrating(status: object, volumes: object[] = []): VirtualMachineInstance {
  return {
    metadata: { name: "vm", namespace: "here", uid: "old" },
    spec: { domain: { devices: {} }, volumes },
    status,
  } as unknown as VirtualMachineInstance;
}

const info = (volumeMode?: string): object => ({ claimName: "c", volumeMode });

/** Where the volume `a` is at the destination. */
function place(from: string, to: string, source: object): unknown {
  const migratedVolumes = [
    { volumeName: "a", sourcePVCInfo: info(from), destinationPVCInfo: info(to) },
  ];
  const vmi = migrating({ migratedVolumes }, [{ name: "a", ...source }]);
  const facts = { destinationHook: true, virtualSizes: { a: 5 } };
  return sourceTarget(vmi, facts).volumes?.["a"];
}

describe("what the source changes", () => {
  test("is nothing for a guest that moves within its cluster, without its disks", () => {
    expect(sourceTarget(migrating({}), { destinationHook: false })).toEqual({ volumes: {} });
  });

  test("is namespace and UID if they differ, the namespace only without a hook", () => {
    const targetState = { domainNamespace: "there", virtualMachineInstanceUID: "new" };
    const vmi = migrating({ migrationState: { targetState } });
    const uid = { from: "old", to: "new" };
    expect(sourceTarget(vmi, { destinationHook: true })).toEqual({ volumes: {}, uid });
    expect(sourceTarget(vmi, { destinationHook: false })).toEqual({
      volumes: {},
      uid,
      namespace: { from: "here", to: "there", match: "text" },
    });
  });

  const claim = { persistentVolumeClaim: { claimName: "c" } };
  const plugged = { dataVolume: { name: "d", hotpluggable: true } };
  test.each([
    ["Filesystem", "Filesystem", claim, undefined],
    ["Block", "Block", claim, undefined],
    ["Filesystem", "Block", claim, { dev: "/dev/a" }],
    ["Filesystem", "Block", plugged, { dev: "/var/run/kubevirt/hotplug-disks/a" }],
    ["Block", "Filesystem", claim, { file: "/var/run/kubevirt-private/vmi-disks/a/disk.img" }],
    ["Block", "Filesystem", plugged, { file: "/var/run/kubevirt/hotplug-disks/a.img" }],
  ])("is the path of a volume that goes from %s to %s", (from, to, source, replacement) => {
    expect(place(from, to, source)).toEqual({
      virtualSize: 5,
      ...(replacement && { replacement }),
    });
  });

  test("is nothing for a volume that is not copied, or is not a claim", () => {
    expect(place("Block", "Filesystem", { containerDisk: { image: "i" } })).toBeUndefined();
    const vmi = migrating({ migratedVolumes: [{ volumeName: "gone" }] });
    expect(sourceTarget(vmi, { destinationHook: true }).volumes).toEqual({});
  });
});
