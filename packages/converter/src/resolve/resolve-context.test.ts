import { clusterConfig } from "@virtkit/api/config";
import { describe, expect, test } from "vitest";
import { type Changes, smallVmi } from "../testing/conversion.ts";
import type { Environment } from "./environment.ts";
import { resolveContext } from "./resolve-context.ts";

function resolved(environment: Environment, changes: Changes = {}): object {
  return resolveContext(smallVmi(changes), environment);
}

describe("resolveContext", () => {
  test("assumes an ordinary cluster and node", () => {
    expect(resolved({})).toMatchObject({
      architecture: "amd64",
      hypervisorDeviceAvailable: true,
      hypervisorName: "kvm",
      smBios: { manufacturer: "KubeVirt", product: "None", family: "KubeVirt" },
      memBalloonStatsPeriod: 10,
      freePageReporting: true,
      serialConsoleLog: true,
      bochsForEFIGuests: true,
    });
  });

  test.each([
    [{ domain: { cpu: { dedicatedCpuPlacement: true } } }],
    [{ domain: { memory: { hugepages: { pageSize: "2Mi" } } } }],
    [{ annotations: { "kubevirt.io/free-page-reporting-disabled": "true" } }],
    [{ devices: { autoattachMemBalloon: false } }],
  ])("reports no free pages with %j", (changes) => {
    expect(resolved({}, changes)).toMatchObject({ freePageReporting: false });
  });

  test("sorts volumes by how they were added, and by what backs them", () => {
    const volumeStatus = [
      { name: "a", target: "", persistentVolumeClaimInfo: { preallocated: true } },
      { name: "b", target: "", hotplugVolume: {} },
    ];
    const volumes = [
      { name: "a", persistentVolumeClaim: { claimName: "c" } },
      { name: "b", dataVolume: { name: "d" } },
    ];
    expect(
      resolved({ blockVolumes: ["b"] }, { spec: { volumes }, status: { volumeStatus } }),
    ).toMatchObject({
      isBlockPVC: { a: false },
      isBlockDV: { b: true },
      permanentVolumes: { a: { name: "a" } },
      hotplugVolumes: { b: { name: "b" } },
      volumesDiscardIgnore: ["a"],
    });
  });

  test("sorts the status of a volume without a name under the empty one", () => {
    const volumeStatus = [{ target: "vda" }] as never;
    expect(resolved({}, { status: { volumeStatus } })).toMatchObject({
      permanentVolumes: { "": { target: "vda" } },
    });
  });

  test("treats unknown container disks as qcow2, unless any is known", () => {
    const spec = { volumes: [{ name: "c", containerDisk: { image: "i" } }] };
    expect(resolved({}, { spec })).toMatchObject({ disksInfo: { c: { format: "qcow2" } } });
    expect(resolved({ disksInfo: {} }, { spec })).toMatchObject({ disksInfo: {} });
  });

  test.each([
    [{}, "qcow2 or raw"],
    [{ format: "vmdk" }, "qcow2 or raw"],
    [{ format: "qcow2", "backing-filename": "/etc/shadow" }, "/etc/shadow"],
  ])("refuses a container disk whose image is %j", (info, message) => {
    const spec = { volumes: [{ name: "c", containerDisk: { image: "i" } }] };
    expect(() => resolved({ disksInfo: { c: info as never } }, { spec })).toThrow(
      expect.objectContaining({ path: "disksInfo.c", message: expect.stringContaining(message) }),
    );
  });

  test("knows how interfaces are attached", () => {
    const interfaces = [
      { name: "a", bridge: {} },
      { name: "b", binding: { name: "plug" } },
      { name: "c", binding: { name: "other" } },
    ];
    const binding = { plug: { domainAttachmentType: "managedTap" }, other: {} };
    expect(
      resolved({ config: clusterConfig({ network: { binding } }) }, { devices: { interfaces } }),
    ).toMatchObject({
      domainAttachmentByInterfaceName: { a: "tap", b: "tap" },
    });
  });

  test("emulates another architecture only if allowed", () => {
    const environment = { hostArchitecture: "amd64" };
    expect(resolved(environment, { architecture: "arm64" })).toMatchObject({
      architecture: "amd64",
      allowCrossArchEmulation: false,
    });
    expect(
      resolved({ ...environment, allowCrossArchEmulation: true }, { architecture: "arm64" }),
    ).toMatchObject({
      architecture: "arm64",
      allowCrossArchEmulation: true,
    });
  });
});
