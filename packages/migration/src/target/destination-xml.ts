import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { type Domain, toXml } from "@virtkit/converter";
import { writeDocument, type XmlNode } from "@virtkit/converter/xml";
import { xmlLimit } from "../handover/xml-limit.ts";
import { MigrationError } from "../migration-error.ts";
import { wrapXmlError } from "../read-migrating-domain.ts";
import { childOf, textOf } from "./abi-rule.ts";
import { readDomain, requireSameAbi } from "./diff-guest-abi.ts";
import { domainRules } from "./domain-rules.ts";
import { joinDomains } from "./join-domains.ts";

/** What the XML of a destination is made from. */
export interface DestinationInput {
  readonly vmi: VirtualMachineInstance;
  /** The running domain as the source sent it; nothing in it is trusted. */
  readonly sourceXml: string;
  /** What this target would start for the VMI, with its own paths, TAPs, CPUs and devices. */
  readonly own: Domain;
  /** The source's name for the domain, if it differs from the target's. */
  readonly sourceName?: string;
}

/**
 * The XML with which this target receives a guest: what the guest can see is the source's, as it runs; all that
 * only the host sees is this target's own. So a source can neither choose a path, a socket, a TAP device or an
 * argument of QEMU here, nor can the target change the guest's hardware.
 *
 * @throws MigrationError `MIGRATION_XML_INVALID` for XML that cannot be read, is too long or has elements
 * that are not known; `MIGRATION_FOREIGN_DOMAIN` if it is another VMI's; `MIGRATION_ABI_CHANGED` if the
 * guest has something that this target does not give it.
 *
 * @example
 * ```ts
 * const own = domainFor(vmi, environment);
 * const xml = destinationXml({ vmi, sourceXml: begun.xml, own });
 * ```
 */
export function destinationXml(input: DestinationInput): string {
  const { sourceXml, own } = input;
  if (typeof sourceXml === "string" && sourceXml.length > xmlLimit) {
    const message = `${sent}: is longer than ${xmlLimit} characters`;
    throw new MigrationError("MIGRATION_XML_INVALID", message, { path: sent });
  }
  const source = readDomain(sourceXml, sent);
  const target = wrapXmlError("the target's own domain", () => readDomain(toXml(own), "own"));
  requireSameGuest(source, target, input);
  const xml = writeDocument(joinDomains(source, target, domainRules));
  requireSameAbi(sourceXml, xml);
  return xml;
}

const sent = "the source's XML";

/** Rejects the domain of another VMI. */
function requireSameGuest(
  source: XmlNode,
  target: XmlNode,
  { vmi, sourceName }: DestinationInput,
): void {
  const expected = {
    name: sourceName ?? text(target, "name"),
    uuid: text(target, "uuid"),
    uid: vmi.metadata?.uid,
  };
  const kubevirt = childOf(childOf(source, "metadata") ?? source, "kubevirt");
  const found = {
    name: text(source, "name"),
    uuid: text(source, "uuid"),
    uid: (kubevirt && text(kubevirt, "uid")) || undefined,
  };
  for (const key of ["name", "uuid", "uid"] as const) {
    // Not every VMI states a UUID, and metadata may be missing; the name is always there.
    const isOptional = key !== "name" && (expected[key] === undefined || found[key] === undefined);
    if (isOptional || expected[key] === found[key]) continue;
    const path = key === "uid" ? "domain/metadata/kubevirt/uid" : `domain/${key}`;
    const shown = JSON.stringify((found[key] ?? "").slice(0, 80));
    const message = `${path}: is ${shown}, which is not this VMI's (${expected[key]}); reject the source`;
    throw new MigrationError("MIGRATION_FOREIGN_DOMAIN", message, { path });
  }
}

function text(node: XmlNode, name: string): string | undefined {
  const child = childOf(node, name);
  return child && textOf(child);
}
