import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { withHostDisks } from "@virtkit/converter";
import { expect, test } from "vitest";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { planPreparation } from "./plan-preparation.ts";
import { noFacts, type PreparationFacts } from "./preparation-facts.ts";
import { stepText } from "./preparation-step.ts";

const emulation = clusterConfig({
  spec: { configuration: { developerConfiguration: { useEmulation: true } } },
});
const hardware = clusterConfig();
const allDevices: PreparationFacts["entries"] = {
  "/dev/kvm": "char",
  "/dev/net/tun": "char",
  "/dev/vhost-net": "char",
  "/dev/vhost-vsock": "char",
  "/dev/sev": "char",
};

function plan(
  vmi: VirtualMachineInstance,
  facts: Partial<PreparationFacts> = {},
  config = emulation,
): readonly string[] {
  const all = { ...noFacts, entries: allDevices, ...facts };
  return planPreparation(withHostDisks(vmi), all, { config }).map(stepText);
}

function withoutNetwork(change: (vmi: VirtualMachineInstance) => void = () => {}) {
  return sampleVmi([], (vmi) => {
    vmi.spec.networks = [];
    vmi.spec.domain.devices.interfaces = [];
    vmi.spec.domain.devices.autoattachPodInterface = false;
    change(vmi);
  });
}

test("a minimal guest gets the hypervisor's device, if it exists", () => {
  expect(plan(withoutNetwork())).toEqual(["give /dev/kvm to 107:107"]);
  expect(plan(withoutNetwork(), { entries: {} })).toEqual([]);
  expect(() => plan(withoutNetwork(), { entries: {} }, hardware)).toThrow(
    expect.objectContaining({ code: "AGENT_SANDBOX", path: "/dev/kvm" }),
  );
  expect(() => plan(withoutNetwork(), { entries: { "/dev/kvm": "file" } }, hardware)).toThrow(
    /is a file/,
  );
});

test("a network needs TUN, and vhost if guests are not emulated", () => {
  const kvm = "give /dev/kvm to 107:107";
  const wired = ["give /dev/net/tun to 107:107", "wire the Pod's network to the guest"];
  expect(plan(sampleVmi())).toEqual([kvm, ...wired]);
  expect(plan(sampleVmi(), {}, hardware)).toEqual([
    kvm,
    "give /dev/vhost-net to 107:107",
    ...wired,
  ]);
  expect(() => plan(sampleVmi(), { entries: { "/dev/kvm": "char" } })).toThrow(/net\/tun/);
});

test("container disks are mounted by their position among the volumes", () => {
  const vmi = sampleVmi([
    { name: "data", emptyDisk: { capacity: "1Gi" } },
    { name: "root", containerDisk: { image: "x" } },
  ]);
  const images = { root: { path: "/disk/a.img", format: "raw", virtualSize: 1n } } as const;
  expect(plan(vmi, { images })[0]).toBe(
    "mount root:/disk/a.img on /var/run/kubevirt/container-disks/disk_1.img (read-only)",
  );
  expect(() => plan(vmi)).toThrow(
    expect.objectContaining({ code: "AGENT_SANDBOX", path: "spec.volumes[1].containerDisk" }),
  );
});

test("without image volumes, a Pod's images are refused before anything is prepared, and the error says what to do", () => {
  const vmi = sampleVmi([{ name: "root", containerDisk: { image: "x" } }]);
  const developerConfiguration = { disabledFeatureGates: ["ImageVolume"] };
  const config = clusterConfig({ developerConfiguration });
  const advice = "enable the feature gate ImageVolume";
  expect(() => planPreparation(vmi, noFacts, { config })).toThrow(advice);
  expect(() => planPreparation(vmi, noFacts, { config: hardware })).toThrow("start it first");
});

test("kernel and initial RAM disk are mounted into their own directory", () => {
  const vmi = withoutNetwork(({ spec }) => {
    const container = { image: "x", kernelPath: "/boot/k", initrdPath: "/boot/i" };
    spec.domain.firmware = { kernelBoot: { container } };
  });
  const kernelBoot = { kernel: "/boot/k-6", initrd: "/boot/i" };
  expect(plan(vmi, { kernelBoot }).slice(0, 3)).toEqual([
    "make directory /var/run/kubevirt/container-disks/kernel-boot",
    "mount kernel-boot:/boot/k-6 on /var/run/kubevirt/container-disks/kernel-boot/k (read-only)",
    "mount kernel-boot:/boot/i on /var/run/kubevirt/container-disks/kernel-boot/i (read-only)",
  ]);
  expect(() => plan(vmi, { kernelBoot: { kernel: "/k" } })).toThrow(/kernel-boot/);
});

test("with image volumes, the launcher gets the directory for its disks", () => {
  const vmi = sampleVmi([{ name: "root", containerDisk: { image: "x" } }]);
  const images = { root: { path: "/disk/a.img", format: "raw", virtualSize: 1n } } as const;
  const directory = "make directory /var/run/kubevirt/container-disks of 107:107";
  expect(plan(vmi, { images, imageVolumes: true }).slice(0, 2)).toEqual([
    directory,
    expect.stringMatching(/^mount root:/),
  ]);
  expect(plan(vmi, { images })).not.toContain(directory);
});

test("creates a host disk on request, and keeps the owner of an existing one", () => {
  const directory = "/var/run/kubevirt-private/vmi-disks/data";
  const disk = (type: string) =>
    withoutNetwork((vmi) => {
      const hostDisk = { path: "/data/d.img", type, capacity: "3Mi" };
      vmi.spec.volumes = [{ name: "data", hostDisk }];
    });
  const kvm = "give /dev/kvm to 107:107";
  expect(plan(disk("DiskOrCreate"))).toEqual([
    kvm,
    `make ${directory}/d.img (3145728 bytes) unless it is there`,
  ]);
  expect(plan(disk("DiskOrCreate"), { selinux: "enforcing" })).toContain(
    `label ${directory}/d.img container_file_t:s0`,
  );
  const entries = { ...allDevices, [`${directory}/d.img`]: "file" } as const;
  expect(plan(disk("DiskOrCreate"), { entries, selinux: "enforcing" })).not.toContainEqual(
    expect.stringMatching(/^(give|label) .*d\.img/),
  );
  expect(plan(disk("Disk"), { entries })).toEqual([kvm]);
  expect(plan(disk("Disk"))).toEqual([kvm]);
});

test("creates an image on a claim with a file system, and gives a block claim to the launcher", () => {
  const claim = (volumeMode: string) =>
    withoutNetwork((vmi) => {
      vmi.spec.volumes = [{ name: "data", persistentVolumeClaim: { claimName: "c" } }];
      const persistentVolumeClaimInfo = { volumeMode, capacity: { storage: "2Mi" } };
      vmi.status = {
        ...vmi.status,
        volumeStatus: [{ name: "data", target: "", persistentVolumeClaimInfo }],
      };
    });
  expect(plan(claim("Filesystem"))[1]).toMatch(/vmi-disks\/data\/disk.img \(2097152 bytes\)/);
  expect(plan(claim("Filesystem"))).toHaveLength(2);
  const entries = { ...allDevices, "/dev/data": "block" } as const;
  expect(plan(claim("Block"), { entries })[1]).toBe("give /dev/data to 107:107");
  expect(() => plan(claim("Block"))).toThrow(/\/dev\/data/);
});

test("hands out VSOCK, memory encryption, VFIO groups and shared directories", () => {
  const vmi = withoutNetwork(({ spec }) => {
    spec.domain.devices.autoattachVSOCK = true;
    spec.domain.devices.filesystems = [{ name: "share", virtiofs: {} }];
    spec.domain.launchSecurity = { sev: {} };
  });
  expect(plan(vmi, { vfio: ["12", "vfio"] })).toEqual([
    "give /dev/kvm to 107:107",
    "give /dev/vhost-vsock to 107:107",
    "give /dev/sev to 107:107",
    "give /dev/vfio/12 to 107:107",
    "set the mode of /dev/vfio/vfio to 0666",
    "give /var/run/kubevirt/virtiofs-containers/share.sock to 107:107",
    expect.stringMatching(/^let the sandbox's processes lock \d+ bytes of memory$/),
  ]);
});

test.each([
  ["/dev/kvm", /spec\.domain needs it; load kvm_intel .* or allow emulation \(useEmulation\)$/],
  ["/dev/net/tun", /interfaces needs it; load tun on the node \(modprobe tun\)/],
  ["/dev/vhost-net", /interfaces needs it; load vhost_net .*useEmulation/],
  [
    "/dev/vhost-vsock",
    /autoattachVSOCK needs it; load vhost_vsock on the node \(modprobe vhost_vsock\), or use a kernel with CONFIG_VHOST_VSOCK, .*gate VSOCK.*; emulation does not help$/,
  ],
  ["/dev/sev", /launchSecurity needs it; use a node whose CPU .*; emulation does not help$/],
] as const)("the error for a sandbox without %s says how to add it", (path, advice) => {
  const vmi = sampleVmi([], ({ spec }) => {
    spec.domain.devices.autoattachVSOCK = true;
    spec.domain.launchSecurity = { sev: {} };
  });
  const { [path]: _, ...entries } = allDevices;
  expect(() => plan(vmi, { entries }, hardware)).toThrow(
    expect.objectContaining({
      code: "AGENT_SANDBOX",
      path,
      message: expect.stringMatching(advice),
    }),
  );
});

test("memory is locked once for the guest and once for each additional device", () => {
  const bytes = (devices: number): bigint => {
    const vmi = withoutNetwork(({ spec }) => {
      spec.domain.memory = { guest: "64Mi" };
      spec.domain.devices.hostDevices = Array.from({ length: devices }, (_, at) => ({
        name: `d${at}`,
        deviceName: "example.com/device",
      }));
    });
    const text = plan(vmi).at(-1) ?? "";
    return BigInt(/lock (\d+)/.exec(text)?.[1] ?? "0");
  };
  expect(bytes(0)).toBe(0n);
  expect(bytes(1)).toBeGreaterThan(64n << 20n);
  expect(bytes(3) - bytes(1)).toBe(2n * (64n << 20n));
});

test("if the agent limits devices, the VMI's own are allowed in addition to the usual ones", () => {
  const own = { type: "c", major: 10, minor: 232, permissions: "rwm", allow: true } as const;
  const steps = planPreparation(
    withoutNetwork(),
    { ...noFacts, deviceRules: [own] },
    { config: emulation },
  );
  const [step] = steps;
  if (step?.kind !== "devices") throw new Error("no rules");
  expect(step.rules[0]).toEqual(own);
  const pairs = step.rules.map(({ major, minor }) => `${major}:${minor}`);
  expect(pairs).toEqual(expect.arrayContaining(["1:3", "1:9", "5:2", "10:200"]));
  expect(new Set(pairs).size).toBe(pairs.length);
});

test("sockets are handed over if there is a receiver and a guest to serve", () => {
  const options = { config: emulation, handsOver: true };
  const facts = { ...noFacts, entries: allDevices };
  const last = (vmi: VirtualMachineInstance) => planPreparation(vmi, facts, options).at(-1)?.kind;
  expect(last(sampleVmi())).toBe("sockets");
  expect(last(withoutNetwork())).toBe("own");
});

test("a plan is plain data, and step IDs are unique", () => {
  const vmi = sampleVmi([
    { name: "a", hostDisk: { path: "/a", type: "DiskOrCreate", capacity: "1Mi" } },
    { name: "b", hostDisk: { path: "/b", type: "DiskOrCreate", capacity: "1Mi" } },
  ]);
  const steps = planPreparation(vmi, { ...noFacts, entries: allDevices }, { config: emulation });
  expect(JSON.parse(JSON.stringify(steps))).toEqual(steps);
  expect(new Set(steps.map(({ id }) => id)).size).toBe(steps.length);
});

test.each([
  undefined,
  null,
  7,
  [],
  {},
  { spec: {} },
  { spec: { domain: {} } },
  { spec: { domain: { devices: { interfaces: 1 } } } },
  { spec: { domain: { devices: {} }, volumes: [null] } },
  { spec: { domain: { devices: { filesystems: "x" } } } },
])("%j is rejected with the field", (vmi) => {
  expect(() => planPreparation(vmi as never, noFacts, { config: emulation })).toThrow(
    expect.objectContaining({ code: "AGENT_VMI_INVALID", path: expect.any(String) }),
  );
});
