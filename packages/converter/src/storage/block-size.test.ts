import type { BlockSize } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import type { BlockSizes } from "../context.ts";
import { type Changes, domainWith, errorPath } from "../testing/conversion.ts";

function withSize(
  blockSize: BlockSize,
  sizes?: BlockSizes,
  block = true,
  architecture = "amd64",
): Changes {
  const path = block ? "/dev/v" : "/var/run/kubevirt-private/vmi-disks/v/disk.img";
  return {
    architecture,
    devices: { disks: [{ name: "v", disk: { bus: "virtio" }, blockSize }] },
    spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] },
    context: { isBlockPVC: { v: block }, host: { blockSizes: sizes ? { [path]: sizes } : {} } },
  };
}

function blockio(...given: Parameters<typeof withSize>): object | undefined {
  return domainWith(withSize(...given)).devices.disks[0]?.blockio;
}

const match = { matchVolume: {} };

describe("block size", () => {
  test("is as given, without zero sizes but with a zero granularity", () => {
    expect(blockio({ custom: { logical: 512, physical: 0, discardGranularity: 0 } })).toEqual({
      logicalBlockSize: 512,
      discardGranularity: 0,
    });
  });

  test("is at most 4096 bytes on s390x", () => {
    const custom = { logical: 8192, physical: 8192 };
    expect(blockio({ custom })).toMatchObject({ logicalBlockSize: 8192 });
    expect(errorPath(withSize({ custom }, undefined, true, "s390x"))).toBe(
      "spec.domain.devices.disks[0].blockSize.custom",
    );
  });

  test.each([
    [{ logical: 512, physical: 4096, discardGranularity: 4096 }, [512, 4096, 4096]],
    [{ logical: 512, physical: 0, discardGranularity: 512 }, [512, 512, 512]],
    [{ logical: 0, physical: 4096, discardGranularity: 0 }, [4096, 4096, 0]],
    [{ logical: 512, physical: 4096, discardGranularity: 100 }, [512, 4096, 4096]],
  ])(
    "of the device %j is %j",
    (sizes, [logicalBlockSize, physicalBlockSize, discardGranularity]) => {
      expect(blockio(match, sizes)).toEqual({
        logicalBlockSize,
        physicalBlockSize,
        discardGranularity,
      });
    },
  );

  test("of a file is that of its file system", () => {
    expect(blockio(match, { filesystemBsize: 4096 }, false)).toEqual({
      logicalBlockSize: 4096,
      physicalBlockSize: 4096,
      discardGranularity: 4096,
    });
  });

  test("is left alone if matching is off", () => {
    expect(blockio({ matchVolume: { enabled: false } })).toBeUndefined();
    expect(blockio({})).toBeUndefined();
  });

  test("fails if nothing is known, or there is nothing to match", () => {
    expect(errorPath(withSize(match))).toBe("host.blockSizes");
    expect(errorPath(withSize(match, { logical: 0, physical: 0 }))).toBe("host.blockSizes");
    const empty = { devices: { disks: [{ name: "x", cdrom: {}, blockSize: match }] } };
    expect(errorPath(empty)).toBe("spec.domain.devices.disks[0].blockSize.matchVolume");
  });
});
