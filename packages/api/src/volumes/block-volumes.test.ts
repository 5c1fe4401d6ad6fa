import { expect, test } from "vitest";
import type { VirtualMachineInstance } from "../schema/index.ts";
import { blockVolumes, isBlockClaim } from "./block-volumes.ts";

test("a claim is a block device if it says so, and not by default", () => {
  expect(
    [{ volumeMode: "Block" }, { volumeMode: "Filesystem" }, {}, null].map(isBlockClaim),
  ).toEqual([true, false, false, false]);
});

test("only claims are block devices, by their last status", () => {
  const block = { persistentVolumeClaimInfo: { volumeMode: "Block" } };
  const vmi = {
    spec: {
      domain: { devices: {} },
      volumes: [
        { name: "image", containerDisk: { image: "x" } },
        { name: "data", dataVolume: { name: "data" } },
        { name: "claim", persistentVolumeClaim: { claimName: "c" } },
        { name: "scratch", ephemeral: { persistentVolumeClaim: { claimName: "c" } } },
        { name: "unknown", persistentVolumeClaim: { claimName: "c" } },
      ],
    },
    status: {
      volumeStatus: [
        { name: "image", target: "", ...block },
        { name: "data", target: "", ...block },
        { name: "scratch", target: "", ...block },
        { name: "claim", target: "", ...block },
        { name: "claim", target: "", persistentVolumeClaimInfo: { volumeMode: "Filesystem" } },
      ],
    },
  } as VirtualMachineInstance;
  expect(blockVolumes(vmi)).toEqual(["data", "scratch"]);
});
