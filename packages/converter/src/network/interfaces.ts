import type { Interface, Network } from "@virtkit/api/schema";
import { vcpusOf } from "../compute/cpu-topology.ts";
import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import { userAlias } from "../model/alias.ts";
import type { DomainInterface, DomainInterfaceDriver } from "../model/interface.ts";
import { pciAddress } from "../placement/pci-address.ts";
import { passtOf } from "./passt.ts";

/** Maximum number of queues of a TAP device. */
const maxQueues = 256;

export const interfaces: Configurator = {
  name: "interfaces",
  summary: "Network cards, except those of the host and those that a plugin adds.",
  configure(draft: Draft): void {
    const { vmi, devices, context, domain } = draft;
    const attachments = context.domainAttachmentByInterfaceName ?? {};
    for (const [at, source] of (devices.interfaces ?? []).entries()) {
      if (source.state === "absent") continue;
      const name = source.name ?? "";
      requireNetwork(vmi.spec.networks ?? [], name, at);
      const tap = attachments[name] === "tap";
      if (source.sriov || (source.binding && !tap)) continue;
      domain.devices.interfaces.push(interfaceOf(draft, source, at, tap));
    }
  },
};

function requireNetwork(networks: readonly Network[], name: string, at: number): void {
  if (networks.some((network) => (network.name ?? "") === name)) return;
  const path = `spec.domain.devices.interfaces[${at}].name`;
  throw invalidVmi(path, `network "${name}" does not exist; add it to spec.networks`);
}

function interfaceOf(draft: Draft, source: Interface, at: number, tap: boolean): DomainInterface {
  const path = `spec.domain.devices.interfaces[${at}]`;
  const model = source.model || "virtio";
  const acpiIndex = source.acpiIndex ?? 0;
  const target: DomainInterface = {
    type: "",
    mac: source.macAddress ? { address: source.macAddress } : undefined,
    source: {},
    target: undefined,
    model: { type: model === "virtio" ? draft.virtioModel : model },
    driver: model === "virtio" ? virtioDriver(draft) : undefined,
    backend: undefined,
    portForward: undefined,
    mtu: undefined,
    link: undefined,
    boot: undefined,
    rom: undefined,
    acpi: acpiIndex > 0 ? { index: acpiIndex } : undefined,
    alias: userAlias(source.name),
    address: source.pciAddress ? pciAddress(source.pciAddress, `${path}.pciAddress`) : undefined,
  };
  if (tap) attachTap(target, draft, source);
  else if (source.passtBinding) Object.assign(target, passtOf(draft, source, path));
  return target;
}

/** The TAP device exists already: libvirt must not create one. */
function attachTap(target: DomainInterface, draft: Draft, { bootOrder, state }: Interface): void {
  const order = bootOrder ?? undefined;
  target.type = "ethernet";
  if (order !== undefined) target.boot = { order };
  // A ROM is only needed to boot from the card, and encrypted guests cannot read it.
  if (draft.architecture.hasBootRom && (order === undefined || draft.iommu)) {
    target.rom = { enabled: "no" };
  }
  if (state === "down") target.link = { state: "down" };
}

function virtioDriver({ devices, topology, iommu }: Draft): DomainInterfaceDriver | undefined {
  const queues = devices.networkInterfaceMultiqueue ? Math.min(vcpusOf(topology), maxQueues) : 0;
  if (queues === 0 && !iommu) return undefined;
  return { name: "vhost", queues: queues || undefined, iommu };
}
