/** @typedef {"checks" | "unit" | "sim" | "host" | "cluster" | "nodes" | "faults"} Tier */

/**
 * @typedef {object} Need
 * @property {string} debian the Debian package that contains it
 * @property {string} [command] found on PATH when the need is met
 * @property {string} [file] exists when the need is met; for things that are not commands
 */

/** Folder of this host's shared libraries, as Debian names it. */
const libraries = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";

/** System packages for running a VMI on our own guest image: `npm start`. @type {Need[]} */
export const startNeeds = [
  { command: "libvirtd", debian: "libvirt-daemon" },
  { command: "virtlogd", debian: "libvirt-daemon" },
  {
    file: `/usr/lib/${libraries}/libvirt/connection-driver/libvirt_driver_qemu.so`,
    debian: "libvirt-daemon-driver-qemu",
  },
  { command: "qemu-system-x86_64", debian: "qemu-system-x86" },
  { command: "qemu-img", debian: "qemu-utils" },
  { command: "ip", debian: "iproute2" },
  { command: "nsenter", debian: "util-linux" },
  { command: "hostname", debian: "hostname" },
  { command: "nft", debian: "nftables" },
  { command: "syslinux", debian: "syslinux" },
  { command: "mcopy", debian: "mtools" },
];

/** For guests that boot with EFI. @type {Need[]} */
const firmware =
  process.arch === "arm64"
    ? [{ file: "/usr/share/AAVMF/AAVMF_CODE.fd", debian: "qemu-efi-aarch64" }]
    : [{ file: "/usr/share/OVMF/OVMF_CODE_4M.fd", debian: "ovmf" }];

/** System packages for real guests on this host. @type {Need[]} */
const hostNeeds = [
  ...startNeeds,
  { command: "chromium", debian: "chromium" },
  { command: "virsh", debian: "libvirt-clients" },
  { file: "/usr/lib/python3/dist-packages/libvirt.py", debian: "python3-libvirt" },
  { command: "mkfs.ext4", debian: "e2fsprogs" },
  { command: "openssl", debian: "openssl" },
  { command: "isoinfo", debian: "genisoimage" },
  { command: "xorriso", debian: "xorriso" },
  { command: "ping", debian: "iputils-ping" },
  { file: "/usr/lib/cni/bridge", debian: "containernetworking-plugins" },
  ...firmware,
];

/** System packages for a cluster of real nodes on this host. @type {Need[]} */
const nodesNeeds = [
  ...startNeeds,
  { command: "runc", debian: "runc" },
  { file: "/usr/lib/cni/ptp", debian: "containernetworking-plugins" },
  { command: "openssl", debian: "openssl" },
  // The contents of the launcher's image.
  ...firmware,
  { command: "swtpm", debian: "swtpm" },
  { command: "swtpm_setup", debian: "swtpm-tools" },
  { command: "strip", debian: "binutils" },
  { file: "/usr/lib/qemu/virtiofsd", debian: "qemu-system-common" },
  { command: "virsh", debian: "libvirt-clients" },
];

/** What each test tier needs from the system. @type {Record<Tier, Need[]>} */
export const needs = {
  checks: [],
  unit: [],
  sim: [],
  host: hostNeeds,
  cluster: [],
  nodes: nodesNeeds,
  faults: [...hostNeeds, ...nodesNeeds],
};

/** Tiers that take too long for every run: they run only when they are named. @type {Tier[]} */
const onDemand = ["faults"];

/** All tiers. */
export const tiers = /** @type {Tier[]} */ (Object.keys(needs));

/** Those of `npm test`, in its order. */
export const usualTiers = tiers.filter((tier) => !onDemand.includes(tier));
