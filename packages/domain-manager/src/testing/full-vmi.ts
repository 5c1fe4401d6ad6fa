import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { GuestIdentity } from "../manager/run-right.ts";
import { labVmi } from "./vmi-fixture.ts";

/** Whose guest it is. */
export const fullIdentity: GuestIdentity = {
  namespace: "ns",
  name: "vm1",
  vmiUid: "0c5b9fae-0001-4b6e-9d30-0f5d2d1a0001",
  podUid: "pod-1",
};

/** A VMI with a network, SSH keys, a container disk, cloud-init and an empty disk. */
export const fullVmi: VirtualMachineInstance = labVmi(fullIdentity, {
  domain: {
    cpu: { model: "qemu64", sockets: 1, cores: 1, threads: 1, maxSockets: 2 },
    devices: {
      disks: [
        { name: "root", disk: { bus: "virtio" } },
        { name: "init", disk: { bus: "virtio" } },
        { name: "scratch", disk: { bus: "virtio" } },
      ],
      interfaces: [{ name: "default", masquerade: {} }],
    },
  },
  accessCredentials: [
    {
      sshPublicKey: {
        source: { secret: { secretName: "keys" } },
        propagationMethod: { qemuGuestAgent: { users: ["root"] } },
      },
    },
  ],
  networks: [{ name: "default", pod: {} }],
  volumes: [
    { name: "root", containerDisk: { image: "lab" } },
    { name: "init", cloudInitNoCloud: { userData: "#cloud-config\nhostname: größe\n" } },
    { name: "scratch", emptyDisk: { capacity: "64Mi" } },
  ],
});

/** The same with a disk and a network that were plugged in while it ran. */
export const pluggedVmi: VirtualMachineInstance = {
  ...fullVmi,
  spec: {
    ...fullVmi.spec,
    domain: {
      ...fullVmi.spec.domain,
      devices: {
        ...fullVmi.spec.domain.devices,
        disks: [
          ...(fullVmi.spec.domain.devices?.disks ?? []),
          { name: "data", serial: "data-serial", disk: { bus: "scsi" } },
        ],
        interfaces: [
          ...(fullVmi.spec.domain.devices?.interfaces ?? []),
          { name: "blue", bridge: {}, macAddress: "02:00:00:00:00:02" },
        ],
      },
    },
    networks: [...(fullVmi.spec.networks ?? []), { name: "blue", multus: { networkName: "blue" } }],
    volumes: [
      ...(fullVmi.spec.volumes ?? []),
      { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } },
    ],
  },
  status: {
    volumeStatus: [
      ...["root", "init", "scratch"].map((name) => ({ name, target: "" })),
      { name: "data", target: "", hotplugVolume: {}, phase: "Ready" },
    ],
  },
} as unknown as VirtualMachineInstance;
