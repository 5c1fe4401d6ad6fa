import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type Domain, parseDomain, toXml } from "@virtkit/converter";
import {
  hotplugPorts,
  withDefinedDevices,
  withPlaceholders,
  withRootPorts,
} from "@virtkit/converter/launcher";
import type { DomainRef } from "../libvirt/event-hub.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";
import type { CallOptions } from "../libvirt/rpc/pending-call.ts";
import type { Caller } from "./guest-domain.ts";

/** A domain that is defined but does not run. */
export interface DefinedGuest {
  readonly dom: DomainRef;
  /** As libvirt has it, with the addresses of all devices. */
  readonly xml: string;
}

/**
 * Defines a domain with room for hotplugged devices: first with placeholders, so that libvirt gives
 * every device the address that it also has in a guest with more cards, then without them and with
 * empty ports. An inactive domain with this name is replaced.
 */
export async function defineGuest(
  libvirt: Caller,
  vmi: VirtualMachineInstance,
  wanted: Domain,
  { names, ...options }: CallOptions & { readonly names: Names },
): Promise<DefinedGuest> {
  const { placeholderInterfaces, extraRootPorts } = hotplugPorts(vmi, wanted, names);
  let domain = wanted;
  if (placeholderInterfaces > 0) {
    const reserved = withPlaceholders(wanted, vmi, placeholderInterfaces);
    const { xml } = await define(libvirt, reserved, options);
    domain = withDefinedDevices(wanted, parseDomain(xml));
  }
  if (extraRootPorts > 0) {
    // Ports take the addresses after those of all devices, so these must have theirs first.
    if (placeholderInterfaces === 0) {
      const { xml } = await define(libvirt, domain, options);
      domain = withDefinedDevices(domain, parseDomain(xml));
    }
    domain = withRootPorts(domain, extraRootPorts);
  }
  return await define(libvirt, domain, options);
}

async function define(
  libvirt: Caller,
  domain: Domain,
  options: CallOptions,
): Promise<DefinedGuest> {
  const { dom } = await libvirt
    .call("domainDefineXml", { xml: toXml(domain) }, options)
    .catch(async (error: unknown) => {
      const older = isLibvirtError(error, "xmlError") ? forOlderLibvirt(domain) : undefined;
      if (!older) throw error;
      return await libvirt.call("domainDefineXml", { xml: toXml(older) }, options);
    });
  const flags = ["inactive"] as const;
  const { xml } = await libvirt.call("domainGetXmlDesc", { dom, flags }, options);
  return { dom, xml };
}

/**
 * The domain of a guest that can grow, for a libvirt before 10, which requires a memory slot,
 * although virtio-mem needs none, and a NUMA cell, which newer ones add themselves. Undefined for a
 * guest that cannot grow.
 */
function forOlderLibvirt(domain: Domain): Domain | undefined {
  const { maxMemory, cpu, vcpu, memory } = domain;
  if (maxMemory?.slots !== 0) return undefined;
  const cpus = `0-${(vcpu?.count ?? 1) - 1}`;
  const cell = { id: 0, cpus, memory: memory.value, unit: memory.unit };
  const numa = cpu.numa ?? { cells: [cell] };
  return { ...domain, cpu: { ...cpu, numa }, maxMemory: { ...maxMemory, slots: 1 } };
}
