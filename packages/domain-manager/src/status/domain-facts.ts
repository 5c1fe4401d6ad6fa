import { type Domain, parseDomain } from "@virtkit/converter";
import { type DomainHostDevice, nameOfAlias } from "@virtkit/converter/model";
import type { DomainHardware, DomainStatus, GuestInterface } from "./domain-status.ts";

/** Facts from a live domain's XML. */
export interface DomainFacts {
  readonly agent: DomainStatus["agent"];
  readonly disks: DomainStatus["disks"];
  /** As the host knows them: without addresses. */
  readonly interfaces: readonly GuestInterface[];
  /** Absent if there is no XML to read. */
  readonly hardware?: DomainHardware;
}

const agentChannel = "org.qemu.guest_agent.0";
/**
 * Alias prefix of host devices that are network cards of the VMI, followed by the name of its
 * interface.
 */
const sriovPrefix = "sriov-";

/**
 * Reads what a status needs from a live domain.
 *
 * @throws ConverterError if it is not well-formed, or not a domain.
 */
export function readDomainFacts(xml: string): DomainFacts {
  const domain = parseDomain(xml);
  const { devices } = domain;
  const channel = devices.channels.find(({ target }) => target?.name === agentChannel);
  return {
    agent: channel?.target?.state === "connected" ? "connected" : "disconnected",
    disks: devices.disks.flatMap(({ alias, target }) => {
      const volume = nameOfAlias(alias);
      const { dev } = target;
      return volume === undefined || dev === undefined ? [] : [{ volume, target: dev }];
    }),
    interfaces: [
      ...devices.interfaces.map(({ alias, mac, driver, link }) => ({
        ...named(nameOfAlias(alias)),
        mac: mac?.address ?? "",
        ips: [],
        queueCount: driver?.queues ?? 1,
        ...(link ? { linkState: link.state } : {}),
      })),
      ...devices.hostDevices.flatMap(hostInterface),
    ],
    hardware: hardwareOf(domain),
  };
}

function hardwareOf({ type, os, features, currentMemory: memory }: Domain): DomainHardware {
  const machine = os?.type?.machine;
  return {
    ...(machine ? { machine } : {}),
    ...(memory ? { memory: { value: Number(memory.value), unit: memory.unit } } : {}),
    emulated: type === "qemu",
    acpi: features?.acpi === true,
  };
}

/** The domain does not know the hardware address of a card that the host passes through. */
function hostInterface({ alias }: DomainHostDevice): GuestInterface[] {
  const name = nameOfAlias(alias);
  if (!name?.startsWith(sriovPrefix)) return [];
  return [{ name: name.slice(sriovPrefix.length), mac: "", ips: [] }];
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}
