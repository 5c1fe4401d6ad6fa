import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import type { ClaimFact, LocalFacts } from "./local-facts.ts";
import { localRefusals } from "./local-refusals.ts";
import { refusalText } from "./refusal.ts";

type Spec = VirtualMachineInstance["spec"];
type Domain = Spec["domain"];

const facts: LocalFacts = {
  architecture: "amd64",
  accel: "tcg",
  hasKvm: false,
  memoryBytes: 8 * 2 ** 30,
  stateDirectory: { path: "/state", freeBytes: 2 ** 30, freeFiles: 10_000 },
  libvirtd: { state: "ok", found: "/usr/sbin/libvirtd" },
  qemu: { state: "ok", found: "/usr/bin/qemu-system-x86_64" },
  machineTypes: ["q35", "pc-q35-7.2"],
  cpuModels: ["Nehalem", "features"],
  swtpm: { state: "ok", found: "/usr/bin/swtpm" },
  firmware: { code: "/code", vars: "/vars" },
  images: { demo: { path: "/images/demo.qcow2" } },
  claims: {},
  objects: [],
};

function vmi(domain: Partial<Domain> = {}, spec: Partial<Spec> = {}): VirtualMachineInstance {
  const plain = { memory: { guest: "256Mi" }, devices: {}, ...domain };
  return { metadata: { name: "demo" }, spec: { domain: plain, ...spec } } as VirtualMachineInstance;
}

function devices(change: Domain["devices"]): VirtualMachineInstance {
  return vmi({ devices: change });
}

function volumes(...list: NonNullable<Spec["volumes"]>): VirtualMachineInstance {
  return vmi({}, { volumes: list });
}

function fields(one: VirtualMachineInstance, change: Partial<LocalFacts> = {}): string[] {
  return localRefusals(one, { ...facts, ...change }).map(({ field }) => field);
}

const file: ClaimFact = { path: "/disks/data.img", readable: true, writable: true };
const onClaim = volumes({ name: "data", persistentVolumeClaim: { claimName: "data" } });
const virtioDisks = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `d${at}`, disk: { bus: "virtio" as const } }));

describe("accepts what local mode supports", () => {
  test.each<[string, VirtualMachineInstance, Partial<LocalFacts>]>([
    ["a plain guest", vmi(), {}],
    ["EFI with firmware", vmi({ firmware: { bootloader: { efi: {} } } }), {}],
    ["a BIOS without firmware", vmi(), { firmware: undefined }],
    ["a container disk", volumes({ name: "root", containerDisk: { image: "demo" } }), {}],
    ["a claim with its file", onClaim, { claims: { data: file } }],
    [
      "a DataVolume with its file",
      volumes({ name: "data", dataVolume: { name: "data" } }),
      { claims: { data: file } },
    ],
    [
      "a read-only claim, with a read-only file",
      volumes({ name: "data", persistentVolumeClaim: { claimName: "data", readOnly: true } }),
      { claims: { data: { ...file, writable: false } } },
    ],
    [
      "an overlay on a claim, with a read-only file",
      volumes({ name: "data", ephemeral: { persistentVolumeClaim: { claimName: "data" } } }),
      { claims: { data: { ...file, writable: false } } },
    ],
    ["a TPM with swtpm", devices({ tpm: {} }), {}],
    ["a TPM that is off, without swtpm", devices({ tpm: { enabled: false } }), missing("swtpm")],
    ["the guest's own architecture", vmi({}, { architecture: "amd64" }), {}],
    ["a machine type that QEMU knows", vmi({ machine: { type: "pc-q35-7.2" } }), {}],
    [
      "a kernel that is the image's only file",
      vmi({
        firmware: { kernelBoot: { container: { image: "demo", kernelPath: "/disk/demo.qcow2" } } },
      }),
      {},
    ],
    ["host-passthrough with KVM", vmi({ cpu: { model: "host-passthrough" } }), kvm()],
    ["a CPU model that libvirt knows", vmi({ cpu: { model: "Nehalem" } }), {}],
    ["any CPU model, if libvirt's are not known", vmi({ cpu: { model: "X" } }), { cpuModels: [] }],
    ["as many CPUs as there is room for", vmi({ cpu: { cores: 51, maxSockets: 5 } }), {}],
    ["many virtio disks", devices({ disks: virtioDisks(216), interfaces: [{ name: "n" }] }), {}],
    ["a Secret that may be missing", volumes({ name: "s", secret: { optional: true } }), {}],
    [
      "a Secret that exists",
      volumes({ name: "s", secret: { secretName: "s" } }),
      { objects: ["Secret/s"] },
    ],
    ["many SCSI disks", devices({ disks: scsiDisks(256) }), {}],
    ["lists that are null", devices({ gpus: null, disks: null, interfaces: null } as never), {}],
  ])("%s", (_, one, change) => {
    expect(localRefusals(one, { ...facts, ...change })).toEqual([]);
  });
});

function missing(program: "libvirtd" | "qemu" | "swtpm"): Partial<LocalFacts> {
  return { [program]: { state: "missing", found: "not found" } };
}

function kvm(): Partial<LocalFacts> {
  return { accel: "kvm", hasKvm: true };
}

function scsiDisks(count: number): NonNullable<Domain["devices"]["disks"]> {
  return virtioDisks(count).map((disk) => ({ ...disk, disk: { bus: "scsi" } }));
}

describe("rejects, of a VMI, the field", () => {
  test.each<[string, VirtualMachineInstance, Partial<LocalFacts>?]>([
    ["spec.architecture", vmi({}, { architecture: "arm64" })],
    ["spec.domain.machine.type", vmi({ machine: { type: "pc-q35-rhel9.4.0" } })],
    ["spec.domain.cpu.dedicatedCpuPlacement", vmi({ cpu: { dedicatedCpuPlacement: true } })],
    ["spec.domain.cpu.isolateEmulatorThread", vmi({ cpu: { isolateEmulatorThread: true } })],
    [
      "spec.domain.cpu.numa.guestMappingPassthrough",
      vmi({ cpu: { numa: { guestMappingPassthrough: {} } } }),
    ],
    ["spec.domain.cpu.realtime", vmi({ cpu: { realtime: {} } })],
    ["spec.domain.cpu.model", vmi({ cpu: { model: "host-passthrough" } })],
    ["spec.domain.cpu.model", vmi({ cpu: { model: "Nonsense" } })],
    ["spec.domain.cpu", vmi({ cpu: { cores: 8, sockets: 16 } })],
    ["spec.domain.cpu", vmi({ cpu: { cores: 32, sockets: 4, threads: 2 } })],
    ["spec.domain.memory.guest", vmi({ memory: { guest: "9Gi" } })],
    [
      "spec.domain.resources.requests.memory",
      vmi({ memory: {}, resources: { requests: { memory: "1Ti" } } }),
    ],
    ["spec.domain.memory.hugepages", vmi({ memory: { hugepages: { pageSize: "2Mi" } } })],
    [
      "spec.domain.firmware.bootloader.efi.secureBoot",
      vmi({ firmware: { bootloader: { efi: {} } } }),
      { firmware: undefined },
    ],
    [
      "spec.domain.firmware.bootloader.efi",
      vmi({ firmware: { bootloader: { efi: { secureBoot: false } } } }),
      { firmware: undefined },
    ],
    // On arm64 a guest boots with EFI though it does not say so.
    ["spec.domain.firmware.bootloader.efi", vmi(), { architecture: "arm64", firmware: undefined }],
    [
      "spec.domain.firmware.bootloader.efi.persistent",
      vmi({ firmware: { bootloader: { efi: { persistent: true } } } }),
    ],
    [
      "spec.domain.firmware.kernelBoot.container.kernelPath",
      vmi({ firmware: { kernelBoot: { container: { image: "demo", kernelPath: "/vmlinuz" } } } }),
    ],
    [
      "spec.domain.firmware.kernelBoot.container.initrdPath",
      vmi({ firmware: { kernelBoot: { container: { image: "demo", initrdPath: "/initrd" } } } }),
    ],
    [
      "spec.domain.firmware.kernelBoot.container.image",
      vmi({ firmware: { kernelBoot: { container: { image: "demo", kernelPath: "/vmlinuz" } } } }),
      { images: { demo: { problem: { found: "there is none", instead: "add it" } } } },
    ],
    ["spec.domain.launchSecurity.sev", vmi({ launchSecurity: { sev: {} } })],
    ["spec.domain.launchSecurity.snp", vmi({ launchSecurity: { snp: {} } })],
    ["spec.domain.launchSecurity.tdx", vmi({ launchSecurity: { tdx: {} } })],
    ["spec.domain.devices.gpus[0]", devices({ gpus: [{ name: "g", deviceName: "x" }] })],
    ["spec.domain.devices.hostDevices[0]", devices({ hostDevices: [{ name: "h" }] })],
    ["spec.resourceClaims[0]", vmi({}, { resourceClaims: [{ name: "c" }] })],
    ["spec.domain.devices.tpm.persistent", devices({ tpm: { persistent: true } })],
    ["spec.domain.devices.tpm", devices({ tpm: {} }), missing("swtpm")],
    ["spec.domain.devices.filesystems[0]", devices({ filesystems: [{ name: "f", virtiofs: {} }] })],
    ["spec.domain.devices.autoattachVSOCK", devices({ autoattachVSOCK: true })],
    ["spec.domain.devices.disks[0].lun", devices({ disks: [{ name: "d", lun: {} }] })],
    ["spec.domain.devices.disks", devices({ disks: virtioDisks(217) })],
    [
      "spec.networks[0].multus",
      vmi({}, { networks: [{ name: "n", multus: { networkName: "b" } }] }),
    ],
    ["spec.networks[0].resourceClaim", vmi({}, { networks: [{ name: "n", resourceClaim: {} }] })],
    ...(["sriov", "macvtap", "passt", "passtBinding", "slirp"] as const).map(
      (kind): [string, VirtualMachineInstance] => [
        `spec.domain.devices.interfaces[0].${kind}`,
        devices({ interfaces: [{ name: "n", [kind]: {} }] }),
      ],
    ),
    [
      "spec.domain.devices.interfaces[0].binding",
      devices({ interfaces: [{ name: "n", binding: { name: "plugin" } }] }),
    ],
    ["spec.volumes[0].persistentVolumeClaim", onClaim],
    ["spec.volumes[0].dataVolume", volumes({ name: "d", dataVolume: { name: "data" } })],
    [
      "spec.volumes[0].ephemeral.persistentVolumeClaim",
      volumes({ name: "d", ephemeral: { persistentVolumeClaim: { claimName: "data" } } }),
    ],
    [
      "spec.volumes[0].persistentVolumeClaim.hotpluggable",
      volumes({ name: "d", persistentVolumeClaim: { claimName: "data", hotpluggable: true } }),
      { claims: { data: file } },
    ],
    ["spec.volumes[0].memoryDump", volumes({ name: "m", memoryDump: { claimName: "data" } })],
    ["spec.volumes[0].serviceAccount", volumes({ name: "t", serviceAccount: {} })],
    ["spec.volumes[0].containerPath", volumes({ name: "p", containerPath: { path: "/x" } })],
    ["spec.utilityVolumes[0]", vmi({}, { utilityVolumes: [{ name: "u", claimName: "c" }] })],
    [
      "spec.volumes[0].containerDisk.image",
      volumes({ name: "root", containerDisk: { image: "demo" } }),
      { images: { demo: { problem: { found: "there is none", instead: "add it" } } } },
    ],
    [
      "spec.volumes[0].containerDisk.path",
      volumes({ name: "root", containerDisk: { image: "demo", path: "/disk/other.img" } }),
    ],
    ["spec.volumes[0].secret.secretName", volumes({ name: "s", secret: { secretName: "s" } })],
    ["spec.volumes[0].configMap.name", volumes({ name: "c", configMap: { name: "c" } })],
    [
      "spec.volumes[0].sysprep.secret.name",
      volumes({ name: "w", sysprep: { secret: { name: "answers" } } }),
    ],
    [
      "spec.volumes[0].sysprep.configMap.name",
      volumes({ name: "w", sysprep: { configMap: { name: "answers" } } }),
    ],
    [
      "spec.volumes[0].cloudInitNoCloud.secretRef.name",
      volumes({ name: "i", cloudInitNoCloud: { secretRef: { name: "seed" } } }),
    ],
    [
      "spec.volumes[0].cloudInitConfigDrive.networkDataSecretRef.name",
      volumes({ name: "i", cloudInitConfigDrive: { networkDataSecretRef: { name: "seed" } } }),
    ],
    [
      "spec.accessCredentials[0].userPassword.source.secret.secretName",
      vmi(
        {},
        {
          accessCredentials: [
            {
              userPassword: {
                source: { secret: { secretName: "p" } },
                propagationMethod: { qemuGuestAgent: {} },
              },
            },
          ],
        },
      ),
    ],
    [
      "metadata.annotations[hooks.kubevirt.io/hookSidecars]",
      { ...vmi(), metadata: { annotations: { "hooks.kubevirt.io/hookSidecars": "[]" } } },
    ],
  ])("%s", (field, one, change = {}) => {
    expect(fields(one, change)).toEqual([field]);
    const [refusal] = localRefusals(one, { ...facts, ...change });
    expect(refusal?.found).not.toBe("");
    expect(refusal?.instead).not.toBe("");
  });
});

describe("rejects, of the host and the options,", () => {
  test.each<[string, Partial<LocalFacts>]>([
    ["libvirtd", missing("libvirtd")],
    ["libvirtd", { libvirtd: { state: "broken", found: "it ended with 1" } }],
    ["QEMU", missing("qemu")],
    ["QEMU", { qemu: { state: "broken", found: "it is not executable" }, machineTypes: [] }],
    ["--accel kvm", { accel: "kvm" }],
    ["--state-dir", { stateDirectory: { path: "/s", problem: "read-only", freeBytes: 0 } }],
    ["--state-dir", { stateDirectory: { path: "/s", freeBytes: 1 } }],
    ["--state-dir", { stateDirectory: { path: "/s", freeBytes: 2 ** 40, freeFiles: 3 } }],
    ["--pvc data", { claims: { data: file } }],
  ])("%s with %j", (field, change) => {
    expect(fields(vmi(), change)).toEqual([field]);
  });

  test.each<[RegExp, ClaimFact]>([
    [
      /there is no \/x; make it/,
      { ...file, problem: { found: "there is no /x", instead: "make it" } },
    ],
    [/cannot be read by .* setfacl -m u:107:rw/, { ...file, readable: false, writable: false }],
    [/cannot be written by .* setfacl -m u:107:rw/, { ...file, writable: false }],
  ])("a claim's file: %s", (text, data) => {
    const [refusal, ...more] = localRefusals(onClaim, { ...facts, claims: { data } });
    expect(more).toEqual([]);
    expect(refusal && refusalText(refusal)).toMatch(text);
  });

  test("a claim's file that two volumes use, one of which writes", () => {
    const two = volumes(
      { name: "a", persistentVolumeClaim: { claimName: "data" } },
      { name: "b", persistentVolumeClaim: { claimName: "data", readOnly: true } },
    );
    expect(fields(two, { claims: { data: file } })).toEqual(["--pvc data"]);
  });
});

test("reports everything at once, the host first", () => {
  const one = vmi(
    { cpu: { dedicatedCpuPlacement: true }, devices: { gpus: [{ name: "g" }] } },
    { volumes: [{ name: "d", dataVolume: { name: "data" } }] },
  );
  expect(fields(one, missing("qemu"))).toEqual([
    "QEMU",
    "spec.domain.cpu.dedicatedCpuPlacement",
    "spec.domain.devices.gpus[0]",
    "spec.volumes[0].dataVolume",
  ]);
});
