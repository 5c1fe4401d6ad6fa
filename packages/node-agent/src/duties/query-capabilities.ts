import { readDocument, type XmlNode } from "@virtkit/converter/xml";
import type { Libvirt } from "@virtkit/domain-manager/libvirt";
import type { CapabilityDocuments } from "./node-capabilities.ts";

/** The part of a libvirt connection that is used. */
export type CapabilityQueries = Pick<Libvirt, "call">;

interface Machine {
  readonly arch: string;
  readonly machine: string;
}

/** libvirt's names, and the machine type that stands for each, by Go's names. */
const machines: Readonly<Record<string, Machine>> = {
  amd64: { arch: "x86_64", machine: "q35" },
  arm64: { arch: "aarch64", machine: "virt" },
  s390x: { arch: "s390x", machine: "s390-ccw-virtio" },
};

/** Whose emulators are looked for on which architecture. */
const others: Readonly<Record<string, readonly string[]>> = { amd64: ["arm64"], arm64: ["amd64"] };

/**
 * Asks a libvirt of the node for its capabilities, like KubeVirt's labeller. `virtType` is `kvm`, or `qemu` if the
 * node has no hypervisor.
 */
export async function queryCapabilities(
  libvirt: CapabilityQueries,
  { architecture, virtType }: { readonly architecture: string; readonly virtType: string },
): Promise<CapabilityDocuments> {
  const place = { ...(machines[architecture] ?? { arch: architecture, machine: "" }), virtType };
  const { capabilities } = await libvirt.call("connectGetCapabilities", {});
  const domain = await domainCapabilities(libvirt, place, ["expandCpuFeatures"]);
  const emulated: string[] = [];
  for (const other of others[architecture] ?? []) {
    const machine = machines[other];
    if (!machine) continue;
    const asked = domainCapabilities(libvirt, { ...machine, virtType: "qemu" }, []);
    // No emulator for it: that is the answer.
    if (await asked.catch(() => undefined)) emulated.push(other);
  }
  return {
    capabilities,
    domainCapabilities: domain,
    supportedCpu: architecture === "arm64" ? undefined : await supportedCpu(libvirt, place, domain),
    emulated,
  };
}

type CapabilityFlag = "expandCpuFeatures" | "supportedCpuFeatures";

async function domainCapabilities(
  libvirt: CapabilityQueries,
  place: Machine & { readonly virtType: string },
  flags: readonly CapabilityFlag[],
): Promise<string> {
  const ask = async (asked: readonly CapabilityFlag[]): Promise<string> => {
    const args = { ...place, flags: asked };
    return (await libvirt.call("connectGetDomainCapabilities", args)).capabilities;
  };
  // An older libvirt does not know the flags, and reports the same without them.
  return await ask(flags).catch(() => ask([]));
}

async function supportedCpu(
  libvirt: CapabilityQueries,
  place: Machine & { readonly virtType: string },
  known: string,
): Promise<string | undefined> {
  const flags = ["expandCpuFeatures", "supportedCpuFeatures"] as const;
  const expanded = await domainCapabilities(libvirt, place, flags);
  const cpu = hostModelCpu(readDocument(expanded)) ?? hostModelCpu(readDocument(known));
  if (!cpu) return undefined;
  const args = { ...place, cpus: [cpu], flags: ["expandFeatures"] } as const;
  return (await libvirt.call("connectBaselineHypervisorCpu", args)).cpu;
}

/** The host's CPU model from the domain capabilities, as a CPU definition. */
function hostModelCpu(document: XmlNode): string | undefined {
  const elements = (node: XmlNode): XmlNode[] =>
    node.children.filter((child): child is XmlNode => typeof child !== "string");
  const mode = elements(document)
    .filter(({ name }) => name === "cpu")
    .flatMap(elements)
    .find(({ name, attributes }) => name === "mode" && attributes["name"] === "host-model");
  if (!mode || mode.attributes["supported"] === "no") return undefined;
  return `<cpu>${elements(mode).map(written).join("")}</cpu>`;
}

function written({ name, attributes, children }: XmlNode): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  const inner = children.map((child) =>
    typeof child === "string" ? escaped(child) : written(child),
  );
  return `<${name}${pairs.join("")}>${inner.join("")}</${name}>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
