import { readDocument, type XmlNode } from "@virtkit/converter/xml";
import { NodeAgentError } from "../node-agent-error.ts";

/** What libvirt says about a node, as documents. */
export interface CapabilityDocuments {
  /** Domain capabilities of the node's hypervisor, with CPU features expanded. */
  readonly domainCapabilities: string;
  /** The CPU that the hypervisor can give to guests, with all its features. Not on every architecture. */
  readonly supportedCpu?: string | undefined;
  /** Of the host. */
  readonly capabilities: string;
  /** Other architectures, by Go's names, for which there is an emulator. */
  readonly emulated?: readonly string[];
}

/** What a node's hypervisor can do. */
export interface NodeCapabilities {
  readonly hostModel?:
    | {
        readonly name: string;
        readonly vendor: string;
        readonly requiredFeatures: readonly string[];
      }
    | undefined;
  /** CPU models that guests can have here. */
  readonly usableModels: readonly string[];
  /** Those, and the ones that libvirt knows but this CPU lacks. */
  readonly knownModels: readonly string[];
  readonly features: readonly string[];
  readonly machines: readonly string[];
  /** Those that QEMU will soon remove. */
  readonly deprecatedMachines: readonly string[];
  readonly tsc?: { readonly frequency: string; readonly scalable: boolean } | undefined;
  readonly sev: boolean;
  readonly sevEs: boolean;
  readonly sevSnp: boolean;
  readonly tdx: boolean;
  readonly secureExecution: boolean;
  readonly emulated: readonly string[];
}

/** The architectures on which guests can have the host's CPU model, or a named one; others have neither here. */
const modelArchitectures = ["amd64", "s390x"];

/**
 * Reads libvirt's documents for a node of an architecture (`amd64`, `arm64`, `s390x`).
 *
 * @throws NodeAgentError `AGENT_CAPABILITIES` if a document lacks what it must have; ConverterError if it is not
 *   well-formed.
 */
export function readCapabilities(
  { domainCapabilities, supportedCpu, capabilities, emulated = [] }: CapabilityDocuments,
  architecture: string,
): NodeCapabilities {
  const domain = readDocument(domainCapabilities);
  const host = readDocument(capabilities);
  const hasModels = modelArchitectures.includes(architecture);
  const modes = below(domain, "cpu", "mode");
  const models = modes.flatMap((mode) => below(mode, "model"));
  const known = models.filter(({ attributes }) => attributes["usable"]);
  const usable = known.filter(({ attributes }) => attributes["usable"] !== "no");
  const machines = below(host, "guest", "arch", "machine");
  const mayLackPolicy = architecture === "s390x";
  return {
    hostModel: hasModels ? hostModelOf(modes, architecture) : undefined,
    usableModels: hasModels ? usable.map(textOf).filter(Boolean) : [],
    knownModels: hasModels ? known.map(textOf).filter(Boolean) : [],
    features:
      hasModels && supportedCpu
        ? below(readDocument(supportedCpu), "feature")
            .filter(({ attributes: { policy } }) =>
              policy === undefined ? mayLackPolicy : policy === "require",
            )
            .map(({ attributes }) => attributes["name"] ?? "")
        : [],
    machines: machines.map(textOf),
    deprecatedMachines: machines
      .filter(({ attributes }) => attributes["deprecated"] === "yes")
      .map(textOf),
    tsc: tscOf(host),
    ...encryptionOf(domain),
    emulated,
  };
}

function hostModelOf(
  modes: readonly XmlNode[],
  architecture: string,
): NodeCapabilities["hostModel"] {
  const mode = modes.find(({ attributes }) => attributes["name"] === "host-model");
  if (!mode) return undefined;
  const [model] = below(mode, "model");
  if (!model) {
    const message = "the domain capabilities have a host-model without a model; update libvirt";
    throw new NodeAgentError("AGENT_CAPABILITIES", message, { path: "cpu.mode.model" });
  }
  const [vendor] = below(mode, "vendor");
  return {
    name: textOf(model),
    // libvirt does not report it there: only one vendor makes them.
    vendor: (vendor && textOf(vendor)) || (architecture === "s390x" ? "IBM" : ""),
    requiredFeatures: below(mode, "feature")
      .filter(({ attributes }) => attributes["policy"] === "require")
      .map(({ attributes }) => attributes["name"] ?? ""),
  };
}

function tscOf(host: XmlNode): NodeCapabilities["tsc"] {
  const [counter] = below(host, "host", "cpu", "counter");
  if (counter?.attributes["name"] !== "tsc") return undefined;
  const { frequency = "0", scaling } = counter.attributes;
  return { frequency, scalable: scaling === "yes" };
}

type Encryption = Pick<NodeCapabilities, "sev" | "sevEs" | "sevSnp" | "tdx" | "secureExecution">;

function encryptionOf(domain: XmlNode): Encryption {
  const supports = (name: string): boolean =>
    below(domain, "features", name).some(({ attributes }) => attributes["supported"] === "yes");
  const [mostGuests] = below(domain, "features", "sev", "maxESGuests");
  const sevEs = supports("sev") && Number(mostGuests ? textOf(mostGuests) : 0) > 0;
  const kinds = below(domain, "features", "launchSecurity", "enum", "value").map(textOf);
  return {
    sev: supports("sev"),
    sevEs,
    sevSnp: sevEs && supports("launchSecurity") && kinds.includes("sev-snp"),
    tdx: supports("tdx"),
    secureExecution: supports("s390-pv"),
  };
}

function below(node: XmlNode, ...path: readonly string[]): readonly XmlNode[] {
  let found: readonly XmlNode[] = [node];
  for (const name of path) {
    found = found.flatMap(({ children }) =>
      children.filter(
        (child): child is XmlNode => typeof child !== "string" && child.name === name,
      ),
    );
  }
  return found;
}

function textOf({ children }: XmlNode): string {
  return children
    .filter((child) => typeof child === "string")
    .join("")
    .trim();
}
