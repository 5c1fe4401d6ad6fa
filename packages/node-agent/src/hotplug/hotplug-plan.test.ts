import { names as namesOf } from "@virtkit/api/names";
import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { planHotplug } from "./hotplug-plan.ts";

const names = namesOf();
const podName = "hp-1";
const podUid = "7";

function status(name: string, change: Partial<VolumeStatus> = {}): VolumeStatus {
  const hotplugVolume = { attachPodName: podName, attachPodUID: podUid };
  return { name, target: "", phase: "AttachedToNode", hotplugVolume, ...change };
}

function vmi(
  volumeStatus: readonly VolumeStatus[],
  volumes: readonly object[] = volumeStatus.map(({ name }) => ({
    name,
    persistentVolumeClaim: { claimName: name, hotpluggable: true },
  })),
): VirtualMachineInstance {
  return {
    spec: { domain: { devices: {} }, volumes },
    status: { volumeStatus },
  } as unknown as VirtualMachineInstance;
}

test("a volume arrives as an image, a device or a directory, where its disk expects it", () => {
  const statuses = [
    status("files"),
    status("block", { persistentVolumeClaimInfo: { volumeMode: "Block" } }),
    status("dump"),
  ];
  const found = planHotplug(
    vmi(statuses, [
      { name: "files", persistentVolumeClaim: { claimName: "files", hotpluggable: true } },
      { name: "block", persistentVolumeClaim: { claimName: "block", hotpluggable: true } },
      { name: "dump", memoryDump: { claimName: "dump", hotpluggable: true } },
    ]),
    [],
    [],
    names,
  );
  const folder = names.directories.hotplugDisks;
  const attachment = { podName, podUid };
  expect(found).toEqual({
    plug: [
      { volume: "files", kind: "image", target: `${folder}/files.img`, attachment },
      { volume: "block", kind: "device", target: `${folder}/block`, attachment },
      { volume: "dump", kind: "directory", target: `${folder}/dump`, attachment },
    ],
    unplug: [],
  });
});

test.each([
  ["is already attached", [status("a")], ["a"]],
  ["has no Pod yet", [status("a", { hotplugVolume: { attachPodName: podName } })], []],
  ["is not hotplugged", [status("a", { hotplugVolume: undefined as never })], []],
  ["is only bound", [status("a", { phase: "Bound" })], []],
] as const)("nothing is attached if the volume %s", (_, statuses, plugged) => {
  expect(planHotplug(vmi(statuses), plugged, [], names).plug).toEqual([]);
});

test("a volume is removed when nobody wants or uses it, and stays while that is unknown", () => {
  const unwanted = vmi([status("a")], []);
  expect(planHotplug(unwanted, ["a"], [], names)).toEqual({ plug: [], unplug: ["a"] });
  expect(planHotplug(unwanted, ["a"], ["a"], names).unplug).toEqual([]);
  expect(planHotplug(unwanted, ["a"], undefined, names).unplug).toEqual([]);
});
