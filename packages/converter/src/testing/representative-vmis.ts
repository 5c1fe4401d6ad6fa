import type { Disk, VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import type { Environment } from "../resolve/environment.ts";

/** A typical VMI, and where it runs. */
export interface Representative {
  readonly name: string;
  readonly vmi: VirtualMachineInstance;
  readonly environment: Environment;
}

const manyDisks: Disk[] = [
  { name: "boot", disk: { bus: "virtio" }, bootOrder: 1, dedicatedIOThread: true },
  { name: "scratch", disk: { bus: "virtio" }, cache: "writethrough", io: "threads" },
  { name: "block", disk: { bus: "scsi" }, blockSize: { custom: { logical: 512, physical: 4096 } } },
  { name: "lun", lun: { bus: "scsi", reservation: true } },
  { name: "config", cdrom: { bus: "sata" } },
  { name: "empty", cdrom: { bus: "sata" } },
  { name: "hot", disk: { bus: "scsi" }, serial: "HOT" },
];

const manyVolumes: Volume[] = [
  { name: "boot", persistentVolumeClaim: { claimName: "boot" } },
  { name: "scratch", emptyDisk: { capacity: "1Gi" } },
  { name: "block", dataVolume: { name: "block" } },
  { name: "lun", persistentVolumeClaim: { claimName: "lun" } },
  { name: "config", configMap: { name: "config" } },
  { name: "hot", persistentVolumeClaim: { claimName: "hot", hotpluggable: true } },
  { name: "shared", persistentVolumeClaim: { claimName: "shared" } },
];

/** One of each kind of guest: their golden documents guard the hardware that a guest sees. */
export const representativeVmis: readonly Representative[] = [
  representative("linux-container-disk", {
    domain: {
      memory: { guest: "2Gi" },
      cpu: { cores: 2 },
      devices: {
        disks: [
          { name: "root", disk: { bus: "virtio" } },
          { name: "init", disk: { bus: "virtio" } },
        ],
        interfaces: [{ name: "default", masquerade: {} }],
        rng: {},
      },
    },
    networks: [{ name: "default", pod: {} }],
    volumes: [
      { name: "root", containerDisk: { image: "example.com/linux" } },
      { name: "init", cloudInitNoCloud: { userData: "#cloud-config" } },
    ],
  }),
  representative("windows", {
    domain: {
      memory: { guest: "8Gi" },
      cpu: { sockets: 1, cores: 4 },
      machine: { type: "pc-q35-9.0" },
      clock: {
        utc: {},
        timer: {
          hpet: { present: false },
          hyperv: {},
          pit: { tickPolicy: "delay" },
          rtc: { tickPolicy: "catchup" },
        },
      },
      features: {
        acpi: {},
        apic: {},
        smm: {},
        hyperv: {
          relaxed: {},
          vapic: {},
          vpindex: {},
          runtime: {},
          synic: {},
          synictimer: { direct: {} },
          spinlocks: { spinlocks: 8191 },
          frequencies: {},
          reenlightenment: {},
          tlbflush: {},
          ipi: {},
        },
      },
      firmware: {
        uuid: "11111111-2222-3333-4444-555555555555",
        serial: "SN-1",
        bootloader: { efi: { secureBoot: true } },
      },
      devices: {
        disks: [
          { name: "system", disk: { bus: "sata" }, bootOrder: 1, serial: "DISK-1" },
          { name: "install", cdrom: { bus: "sata" } },
          { name: "sysprep", cdrom: { bus: "sata" } },
        ],
        interfaces: [
          { name: "default", bridge: {}, model: "e1000e", macAddress: "02:00:00:11:22:33" },
        ],
        inputs: [{ name: "tablet", type: "tablet", bus: "usb" }],
        sound: { name: "sound" },
        tpm: { persistent: true },
      },
    },
    networks: [{ name: "default", pod: {} }],
    volumes: [
      { name: "system", persistentVolumeClaim: { claimName: "system" } },
      { name: "sysprep", sysprep: { configMap: { name: "answers" } } },
    ],
  }),
  representative(
    "many-disks-hotplug",
    {
      domain: {
        memory: { guest: "4Gi" },
        cpu: { cores: 4 },
        ioThreadsPolicy: "auto",
        devices: {
          blockMultiQueue: true,
          disks: manyDisks,
          filesystems: [{ name: "shared", virtiofs: {} }],
        },
      },
      volumes: manyVolumes,
    },
    { blockVolumes: ["block", "hot"] },
    {
      volumeStatus: [
        ...["boot", "scratch", "block", "lun", "config"].map((name) => ({ name, target: "" })),
        { name: "hot", target: "sdb", phase: "Ready", hotplugVolume: { attachPodName: "p" } },
      ],
    },
  ),
  representative("networks", {
    domain: {
      memory: { guest: "1Gi" },
      devices: {
        networkInterfaceMultiqueue: true,
        interfaces: [
          { name: "default", masquerade: {}, ports: [{ port: 80 }], bootOrder: 1 },
          { name: "blue", bridge: {}, pciAddress: "0000:0a:01.0", acpiIndex: 101 },
          { name: "red", bridge: {}, state: "down", macAddress: "02:00:00:aa:bb:cc" },
        ],
      },
    },
    networks: [
      { name: "default", pod: {} },
      { name: "blue", multus: { networkName: "blue" } },
      { name: "red", multus: { networkName: "red" } },
    ],
  }),
  representative(
    "dedicated-numa",
    {
      domain: {
        memory: { guest: "4Gi", hugepages: { pageSize: "2Mi" } },
        cpu: {
          cores: 4,
          model: "host-passthrough",
          dedicatedCpuPlacement: true,
          isolateEmulatorThread: true,
          numa: { guestMappingPassthrough: {} },
        },
        devices: { autoattachMemBalloon: false, autoattachGraphicsDevice: false },
      },
    },
    {
      cpuSet: [0, 1, 2, 3, 4],
      topology: {
        numa_cells: [
          { cpus: [0, 1].map((id) => ({ id })) },
          { id: 1, cpus: [2, 3, 4].map((id) => ({ id })) },
        ],
      },
    },
  ),
  representative(
    "host-devices",
    {
      domain: {
        memory: { guest: "2Gi" },
        devices: {
          gpus: [{ name: "vgpu", deviceName: "example.com/vgpu" }],
          hostDevices: [
            { name: "nic", deviceName: "example.com/nic" },
            { name: "key", deviceName: "example.com/key" },
          ],
          watchdog: { name: "dog", i6300esb: { action: "reset" } },
          panicDevices: [{ model: "hyperv" }],
          clientPassthrough: {},
        },
      },
    },
    {
      env: {
        MDEV_PCI_RESOURCE_EXAMPLE_COM_VGPU: "aaaaaaaa-0000-0000-0000-000000000001",
        PCI_RESOURCE_EXAMPLE_COM_NIC: "0000:81:00.0",
        USB_RESOURCE_EXAMPLE_COM_KEY: "1:4",
      },
    },
  ),
  representative("confidential", {
    domain: {
      memory: { guest: "2Gi" },
      firmware: { bootloader: { efi: { secureBoot: false } } },
      launchSecurity: { sev: { policy: { encryptedState: true } } },
      devices: { disks: [{ name: "root", disk: { bus: "virtio" } }], rng: {} },
    },
    volumes: [{ name: "root", dataVolume: { name: "root" } }],
  }),
  ...["arm64", "s390x"].map((architecture) =>
    representative(`linux-${architecture}`, {
      architecture,
      domain: {
        memory: { guest: "2Gi" },
        devices: {
          disks: [
            { name: "root", disk: { bus: "virtio" } },
            { name: "extra", disk: { bus: "scsi" } },
          ],
        },
      },
      volumes: [
        { name: "root", containerDisk: { image: "example.com/linux" } },
        { name: "extra", emptyDisk: { capacity: "1Gi" } },
      ],
    }),
  ),
];

function representative(
  name: string,
  spec: VirtualMachineInstance["spec"],
  environment: Environment = {},
  status?: VirtualMachineInstance["status"],
): Representative {
  const links = [
    "eth0",
    "tap0",
    "pod16477688c0e",
    "tap16477688c0e",
    "podb1f51a511f1",
    "tapb1f51a511f1",
  ];
  return {
    name,
    vmi: {
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachineInstance",
      metadata: { name, namespace: "golden", uid: "00000000-0000-0000-0000-00000000abcd" },
      spec: { architecture: "amd64", ...spec },
      ...(status ? { status } : {}),
    },
    environment: {
      firmwareUUID: "99999999-8888-7777-6666-555555555555",
      podLinks: Object.fromEntries(
        links.map((link, at) => [link, { mac: `02:00:00:00:00:0${at}`, mtu: 1450 }]),
      ),
      ...environment,
    },
  };
}
