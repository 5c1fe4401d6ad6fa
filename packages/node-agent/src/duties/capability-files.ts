import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CapabilityDocuments } from "./node-capabilities.ts";

/** Where an init container leaves libvirt's description of the node: KubeVirt's place. */
export const capabilityDirectory = "/var/lib/kubevirt-node-labeller";

/** libvirt neither sends nor accepts a longer text. */
const longest = 4 * 1024 * 1024;

const emulators: Readonly<Record<string, string>> = {
  amd64: "virsh_domcapabilities_x86_64.xml",
  arm64: "virsh_domcapabilities_aarch64.xml",
};

/**
 * What libvirt says about a node, from the files that an init container has left there under KubeVirt's names: the
 * agent itself runs no libvirt. Undefined if they do not exist.
 */
export function readCapabilityFiles(
  directory: string = capabilityDirectory,
): CapabilityDocuments | undefined {
  const read = (name: string): string | undefined => {
    const path = join(directory, name);
    return existsSync(path) ? readFileSync(path, "utf8").slice(0, longest) : undefined;
  };
  const [domainCapabilities, capabilities] = [
    read("virsh_domcapabilities.xml"),
    read("capabilities.xml"),
  ];
  if (domainCapabilities === undefined || capabilities === undefined) return undefined;
  const supportedCpu = read("supported_features.xml");
  // The file of a missing emulator is empty.
  const emulated = Object.keys(emulators).filter((name) => read(emulators[name] ?? ""));
  return { domainCapabilities, capabilities, supportedCpu, emulated };
}
