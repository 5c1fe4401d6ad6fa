import { expect, test } from "vitest";
import { readDomainFacts } from "./domain-facts.ts";

const xml = (
  agentState: string,
) => `<domain type='kvm' id='3'><name>ns_vm</name><currentMemory unit='KiB'>1048576</currentMemory>
  <os><type arch='x86_64' machine='pc-q35-9.2'>hvm</type></os><features><acpi/></features><devices>
  <disk type='file' device='disk'><source file='/x'/><target dev='vda' bus='virtio'/><alias name='ua-root'/></disk>
  <disk type='file' device='cdrom'><target dev='sda' bus='sata'/><alias name='sata0-0-0'/></disk>
  <interface type='ethernet'><mac address='02:00:00:00:00:01'/><driver name='vhost' queues='4'/><link state='down'/><alias name='ua-default'/></interface>
  <interface type='ethernet'><mac address='02:00:00:00:00:02'/><alias name='net1'/></interface>
  <hostdev mode='subsystem' type='pci'><alias name='ua-sriov-fast'/></hostdev>
  <hostdev mode='subsystem' type='pci'><alias name='ua-gpu-one'/></hostdev>
  <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0' state='${agentState}'/></channel>
</devices></domain>`;

test("reads disks and interfaces by the VMI's names, and whether the agent is connected", () => {
  expect(readDomainFacts(xml("connected"))).toEqual({
    agent: "connected",
    disks: [{ volume: "root", target: "vda" }],
    interfaces: [
      { name: "default", mac: "02:00:00:00:00:01", ips: [], queueCount: 4, linkState: "down" },
      { mac: "02:00:00:00:00:02", ips: [], queueCount: 1 },
      { name: "fast", mac: "", ips: [] },
    ],
    hardware: {
      ...{ machine: "pc-q35-9.2", memory: { value: 1_048_576, unit: "KiB" } },
      ...{ emulated: false, acpi: true },
    },
  });
  expect(readDomainFacts(xml("disconnected")).agent).toBe("disconnected");
  const bare = readDomainFacts("<domain type='qemu'><devices/></domain>");
  expect(bare.agent).toBe("disconnected");
  expect(bare.hardware).toEqual({ emulated: true, acpi: false });
});
