/** Something that libvirt 9.0 with QEMU 7.2 does differently, and why that is not our fault. */
export interface Known {
  readonly pattern: RegExp;
  readonly reason: string;
}

/** Documents that this version refuses, by message. */
export const refusals: readonly Known[] = [
  {
    pattern: /does not support machine type/,
    reason: "the machine type is newer than QEMU 7.2, or Red Hat's",
  },
  { pattern: /virt type 'hyperv'/, reason: "QEMU 7.2 cannot use Microsoft's hypervisor" },
  { pattern: /SEV launch security is not supported/, reason: "the host has no SEV" },
  { pattern: /launchSecurity.*(sev-snp|tdx)/, reason: "SEV-SNP and TDX came later" },
  { pattern: /TPM version .* is not supported/, reason: "swtpm is not installed" },
  { pattern: /vhostuser|passt/, reason: "passt came with libvirt 9.2, with vhost-user 11.1" },
  {
    pattern:
      /interface type is not supported|Invalid value for attribute 'type' in element 'interface'/,
    reason: "admission refuses VMIs with removed bindings",
  },
  { pattern: /USB is disabled/, reason: "admission refuses LUNs and CD-ROMs on USB" },
  { pattern: /UEFI requires ACPI/, reason: "admission refuses EFI without ACPI" },
  { pattern: /Secure boot requires SMM/, reason: "admission refuses secure boot without SMM" },
  { pattern: /slot must be <=/, reason: "the VMI states an address that no bus has" },
  {
    pattern: /io='native' needs/,
    reason: "the launcher chooses the cache later; the VMI sets only I/O",
  },
  { pattern: /'lun' is only valid for block/, reason: "admission refuses LUNs on files" },
  {
    pattern: /attribute 'type' in element 'source'/,
    reason: "passt with vhost-user came with libvirt 11.1",
  },
  { pattern: /Unknown acpi table type: msdm/, reason: "MSDM tables came with libvirt 11.0" },
  { pattern: /more than 255 vCPUs/, reason: "KubeVirt adds no IOMMU for so many CPUs; nor do we" },
  { pattern: /Memory size must be specified/, reason: "admission refuses a VMI without memory" },
  { pattern: /No PCI buses available/, reason: "the cluster's machine type has no PCI" },
  {
    pattern: /unable to parse mac address/,
    reason: "the launcher writes the address in libvirt's notation later",
  },
  {
    pattern: /requires use of supported storage format/,
    reason: "admission refuses sharing of overlays",
  },
  { pattern: /'lun' is not supported for bus/, reason: "admission refuses LUNs on SATA" },
  { pattern: /does not support ejectable media/, reason: "admission refuses CD-ROMs on virtio" },
  {
    pattern: /not supported for bus 'sata'/,
    reason: "admission refuses metrics on a bus other than virtio",
  },
];

/** What is missing from the document that libvirt returns. */
export const losses: readonly Known[] = [
  {
    pattern: /^domain\/os\/type\/@machine/,
    reason: "an alias becomes the version that it stands for",
  },
  { pattern: /^domain\/@xmlns:qemu/, reason: "the namespace is written only where it is used" },
  {
    pattern: /\/console\/@type: pty, not unix/,
    reason: "the console takes the type of its serial port",
  },
  { pattern: /\/sysinfo\/\w+\/entry/, reason: "empty entries are dropped" },
  { pattern: /\/hostdev\/source\/address\/@type/, reason: "the type follows from the device" },
  {
    pattern: /\/@(accessMode: passthrough|tray: closed|queues: 1,)/,
    reason: "libvirt's default is not written",
  },
  { pattern: /\/disk\/source\/@name/, reason: "a block device does not have its own name" },
  {
    pattern: /\/disk\/(filesystemOverhead|capacity)/,
    reason: "not libvirt's: kept for growing images",
  },
  { pattern: /\/controller\/address: not there/, reason: "a controller of model none is nowhere" },
  { pattern: /\/disk\/source\/dataStore/, reason: "data files of qcow2 came with libvirt 10.10" },
  {
    pattern: /\/disk\/driver\/iothreads/,
    reason: "several I/O threads for a disk came with libvirt 10.0",
  },
  { pattern: /\/tlbflush\/(direct|extended)/, reason: "came with libvirt 11.0" },
  {
    pattern: /^domain\/iommufd|\/hostdev\/driver\/@iommufd/,
    reason: "IOMMU file descriptors came with libvirt 12.0",
  },
  { pattern: /\/backingStore\/source\/@name/, reason: "a block device does not have its own name" },
  { pattern: /\/mac\/@address/, reason: "libvirt writes hardware addresses in lower case" },
  { pattern: /\/hostdev\/@display/, reason: "screens of PCI functions came with libvirt 10.10" },
  { pattern: /\/nvram\/@format/, reason: "came with libvirt 9.2" },
  { pattern: /\/stimer\/direct/, reason: "off is the default" },
  { pattern: /\/reservations\/@migration/, reason: "came with libvirt 11.5" },
  { pattern: /\/blockio\/@discard_granularity/, reason: "came with libvirt 11.6" },
  {
    pattern: /\/clock\/@offset: utc, not variable/,
    reason: "UTC with an adjustment is what libvirt calls variable",
  },
  { pattern: /\/sysinfo\/chassis: not there/, reason: "a table of empty entries is dropped" },
];

/** The part that this version accepts only with slots and cells, which newer ones do not need. */
export function withoutMaxMemory(xml: string): string {
  return xml.replace(/\n *<maxMemory[^\n]*/, "");
}
