import { type Domain, type DomainChange, toDeviceXml } from "@virtkit/converter";
import type { DomainCpuTune } from "@virtkit/converter/model";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import { cpuMap } from "./cpu-map.ts";
import type { Caller } from "./guest-domain.ts";
import { memoryPlug } from "./memory-device.ts";

/** The running guest that a change is made to. */
export interface ChangeTarget {
  readonly libvirt: Caller;
  readonly dom: DomainRef;
  readonly running: Domain;
}

/** Now, and in the persistent domain. */
const both = ["live", "config"] as const;

/** Applies one change to a running guest. Repeating it changes nothing. */
export async function applyChange(
  target: ChangeTarget,
  change: DomainChange,
  options: CallOptions,
): Promise<void> {
  switch (change.kind) {
    case "attach-disk":
      return await attach(target, toDeviceXml("disks", change.disk), options);
    case "attach-interface":
      return await attach(target, toDeviceXml("interfaces", change.interface), options);
    case "attach-host-device":
      return await attach(target, toDeviceXml("hostDevices", change.hostDevice), options);
    case "detach-disk":
      return await detach(target, toDeviceXml("disks", change.disk), options);
    case "detach-interface":
      return await detach(target, toDeviceXml("interfaces", change.interface), options);
    case "detach-host-device":
      return await detach(target, toDeviceXml("hostDevices", change.hostDevice), options);
    case "change-media":
      return await update(target, toDeviceXml("disks", change.disk), options);
    case "set-link-state":
      return await update(target, toDeviceXml("interfaces", change.interface), options);
    case "resize-disk":
      return await resize(target, change.disk.target.dev ?? "", BigInt(change.bytes), options);
    case "set-vcpus": {
      const { libvirt, dom } = target;
      const args = { dom, count: change.to, flags: both };
      return void (await libvirt.call("domainSetVcpus", args, options));
    }
    case "pin-cpus":
      return await pinCpus(target, change.cputune, options);
    case "set-memory":
      return await setMemory(target, BigInt(change.to), options);
    case "set-metadata":
      // Only the grace period, which the shutdown takes from the VMI.
      return;
    case "change-disk":
    case "change-interface":
    case "change-host-device":
    case "set-vcpu-limit":
    case "set-memory-limit":
    case "change-element":
      // Never live: the comparison says so of each.
      return;
    default:
      change satisfies never;
  }
}

async function attach(
  { libvirt, dom }: ChangeTarget,
  xml: string,
  options: CallOptions,
): Promise<void> {
  await libvirt.call("domainAttachDevice", { dom, xml, flags: both }, options);
}

async function update(
  { libvirt, dom }: ChangeTarget,
  xml: string,
  options: CallOptions,
): Promise<void> {
  await libvirt.call("domainUpdateDevice", { dom, xml, flags: both }, options);
}

/**
 * The guest releases a device when it likes; libvirt waits some seconds for it. A device that is
 * only in the running guest, or only in the persistent domain, is removed from that one.
 */
async function detach(
  { libvirt, dom }: ChangeTarget,
  xml: string,
  options: CallOptions,
): Promise<void> {
  try {
    await libvirt.call("domainDetachDevice", { dom, xml, flags: both }, options);
  } catch (error) {
    if (!isLibvirtError(error, "deviceMissing")) throw error;
    await libvirt
      .call("domainDetachDevice", { dom, xml, flags: ["live"] }, options)
      .catch(ifMissing);
  }
}

function ifMissing(error: unknown): void {
  if (!isLibvirtError(error, "deviceMissing")) throw error;
}

async function resize(
  { libvirt, dom }: ChangeTarget,
  disk: string,
  size: bigint,
  options: CallOptions,
): Promise<void> {
  await libvirt.call("domainBlockResize", { dom, disk, size, flags: ["bytes"] }, options);
}

async function setMemory(
  { libvirt, dom, running }: ChangeTarget,
  to: bigint,
  options: CallOptions,
): Promise<void> {
  const { how, device } = memoryPlug(running, to);
  const xml = toDeviceXml("other", device);
  if (how === "attach") await attach({ libvirt, dom, running }, xml, options);
  // The persistent domain has no requested size.
  else await libvirt.call("domainUpdateDevice", { dom, xml, flags: ["live"] }, options);
}

async function pinCpus(
  { libvirt, dom }: ChangeTarget,
  { vcpupin, emulatorpin }: DomainCpuTune,
  options: CallOptions,
): Promise<void> {
  for (const { vcpu, cpuset } of vcpupin) {
    const args = { dom, vcpu, cpuMap: cpuMap(cpuset) };
    try {
      await libvirt.call("domainPinVcpu", { ...args, flags: both }, options);
    } catch (error) {
      // A vCPU that is not plugged in has no thread yet; it gets its place when it is.
      if (!isLibvirtError(error, "invalidArg")) throw error;
      await libvirt.call("domainPinVcpu", { ...args, flags: ["config"] }, options);
    }
  }
  if (!emulatorpin) return;
  const args = { dom, cpuMap: cpuMap(emulatorpin.cpuset), flags: both };
  await libvirt.call("domainPinEmulator", args, options);
}
