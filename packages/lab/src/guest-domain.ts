import { type GuestImage, guestCommandLine } from "./guest-image.ts";

/** The input of {@link guestDomainXml}. */
export interface GuestDomainOptions {
  readonly name: string;
  readonly guest: GuestImage;
  readonly uuid?: string;
  /** Default 128. */
  readonly memoryMiB?: number;
  /** Present at the start, and at most. Default 1 and 2. */
  readonly vcpus?: readonly [current: number, maximum: number];
  /** Added to the kernel command line; `hb=none` silences the heartbeat. */
  readonly cmdline?: string;
  /** More devices, as XML. */
  readonly devices?: string;
  /** XML of the console's source; a pty by default. */
  readonly serial?: string;
}

/**
 * A domain that boots the lab's guest in software emulation: q35, a serial console, the guest agent, a
 * balloon, and free PCIe ports for what is plugged in later.
 */
export function guestDomainXml({
  name,
  guest,
  uuid,
  memoryMiB = 128,
  vcpus: [current, maximum] = [1, 2],
  cmdline = "",
  devices = "",
  serial = "<serial type='pty'>",
}: GuestDomainOptions): string {
  return `<domain type='qemu'>
  <name>${name}</name>
  ${uuid === undefined ? "" : `<uuid>${uuid}</uuid>`}
  <memory unit='MiB'>${memoryMiB}</memory>
  <vcpu placement='static' current='${current}'>${maximum}</vcpu>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>${guest.kernel}</kernel>
    <initrd>${guest.initrd}</initrd>
    <cmdline>${guestCommandLine} ${cmdline}</cmdline>
  </os>
  <features><acpi/></features>
  <cpu mode='custom' match='exact' check='none'><model fallback='forbid'>qemu64</model></cpu>
  <clock offset='utc'><timer name='rtc' tickpolicy='catchup'/><timer name='hpet' present='no'/></clock>
  <on_crash>destroy</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='usb' model='none'/>
    <controller type='pci' index='0' model='pcie-root'/>
    ${Array.from({ length: 10 }, (_, i) => `<controller type='pci' index='${i + 1}' model='pcie-root-port'/>`).join("\n    ")}
    <controller type='virtio-serial' index='0'/>
    ${serial}<target type='isa-serial' port='0'/></serial>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <memballoon model='virtio'><stats period='1'/></memballoon>
    ${devices}
  </devices>
</domain>`;
}
