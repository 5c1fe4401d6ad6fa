import { bytesIn, readDocument, type XmlNode } from "@virtkit/converter/xml";
import { MigrationError } from "../migration-error.ts";
import { wrapXmlError } from "../read-migrating-domain.ts";
import { type AbiRule, byLabel, elementsOf, type Sight, textOf } from "./abi-rule.ts";
import { domainRules } from "./domain-rules.ts";

/** Something that a guest sees differently at the target. */
export interface AbiChange {
  /** The position in the domain, such as `domain/devices/disk[ua-root]/target/@bus`. */
  readonly path: string;
  /** Its value at the source; absent if it does not exist there. */
  readonly source?: string;
  /** Its value at the target; absent if it does not exist there. */
  readonly target?: string;
}

/**
 * What a guest would see differently at the target: machine type, CPU, memory, firmware, clock, identities,
 * and every device with its model, place and identity. What only the host sees (paths, sockets, TAP devices,
 * pinning, caches) is ignored. An empty list means that the guest sees no difference.
 *
 * @throws MigrationError `MIGRATION_XML_INVALID` if a document cannot be read.
 *
 * @example
 * ```ts
 * diffGuestAbi(sourceXml, targetXml); // [{ path: "domain/os/type/@machine", source: "q35", target: "pc" }]
 * ```
 */
export function diffGuestAbi(sourceXml: string, targetXml: string): readonly AbiChange[] {
  const [source, target] = [
    readDomain(sourceXml, "the source's XML"),
    readDomain(targetXml, "the target's XML"),
  ];
  return diffElement(source, target, domainRules, "domain");
}

/**
 * Refuses a target at which the guest would see other hardware.
 *
 * @throws MigrationError `MIGRATION_ABI_CHANGED` with the path of the first difference.
 */
export function requireSameAbi(sourceXml: string, targetXml: string): void {
  const changes = diffGuestAbi(sourceXml, targetXml);
  const [first] = changes;
  if (!first) return;
  const shown = changes.slice(0, 5).map(describe).join("; ");
  const more = changes.length > 5 ? `; and ${changes.length - 5} more` : "";
  const message = `the guest would see different hardware at the target: ${shown}${more}`;
  throw new MigrationError("MIGRATION_ABI_CHANGED", message, { path: first.path });
}

/** Reads a domain into a tree; its length, depth and number of elements are bounded. */
export function readDomain(xml: string, document: string): XmlNode {
  const root = wrapXmlError(document, () => readDocument(xml));
  if (root.name === "domain") return root;
  const message = `${document}: is a <${root.name}>; it must be a <domain>`;
  throw new MigrationError("MIGRATION_XML_INVALID", message, { path: document });
}

function describe({ path, source, target }: AbiChange): string {
  const show = (value: string | undefined): string =>
    value === undefined ? "nothing" : JSON.stringify(value.slice(0, 60));
  return `${path} is ${show(source)} at the source and ${show(target)} at the target`;
}

function diffElement(source: XmlNode, target: XmlNode, rule: AbiRule, path: string): AbiChange[] {
  const { children: rules = {}, hostAttributes = [] } = rule;
  const changes = diffAttributes(source, target, new Set(hostAttributes), path);
  if (!rule.hostText) changes.push(...diffText(source, target, path));
  changes.push(...diffChildren(source, target, rules, path));
  return changes;
}

function diffChildren(
  source: XmlNode,
  target: XmlNode,
  rules: Readonly<Record<string, Sight>>,
  path: string,
): AbiChange[] {
  const sightOf = ({ name }: XmlNode): Sight =>
    (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? "guest";
  const isSeen = (node: XmlNode): boolean => sightOf(node) !== "host";
  const here = byLabel(elementsOf(source).filter(isSeen), rules);
  const there = byLabel(elementsOf(target).filter(isSeen), rules);
  const changes: AbiChange[] = [];
  for (const label of new Set([...here.keys(), ...there.keys()])) {
    const [one, other] = [here.get(label), there.get(label)];
    const at = `${path}/${label}`;
    if (one && other) {
      const sight = sightOf(one);
      const rule = typeof sight === "object" ? sight : {};
      changes.push(...diffElement(one, other, rule, at));
    } else if (one) changes.push({ path: at, source: show(one) });
    else if (other) changes.push({ path: at, target: show(other) });
  }
  return changes;
}

function diffAttributes(
  { attributes: here }: XmlNode,
  { attributes: there }: XmlNode,
  host: ReadonlySet<string>,
  path: string,
): AbiChange[] {
  const isSized = here["unit"] !== undefined || there["unit"] !== undefined;
  const names = [...new Set([...Object.keys(here), ...Object.keys(there)])].filter(
    (key) => !host.has(key) && !key.startsWith("xmlns") && !(isSized && key === "unit"),
  );
  return names.flatMap((key) => {
    const [one, other] = [here[key], there[key]];
    const isSame = one !== undefined && other !== undefined && plain(one) === plain(other);
    return isSame ? [] : [change(`${path}/@${key}`, one, other)];
  });
}

function diffText(source: XmlNode, target: XmlNode, path: string): AbiChange[] {
  const isSized = [source, target].some(({ attributes }) => attributes["unit"] !== undefined);
  const [here, there] = [source, target].map((node) => {
    const text = textOf(node);
    const isAmount = isSized && /^\d{1,20}$/.test(text);
    return isAmount ? String(bytesIn(BigInt(text), node.attributes["unit"])) : plain(text);
  });
  return here === there ? [] : [change(path, textOf(source), textOf(target))];
}

function change(path: string, source: string | undefined, target: string | undefined): AbiChange {
  return {
    path,
    ...(source !== undefined && { source }),
    ...(target !== undefined && { target }),
  };
}

/** libvirt writes `0x01` where somebody wrote `0x1`, and addresses in lower case. */
function plain(value: string): string {
  if (/^0x[0-9a-f]{1,16}$/i.test(value)) return `0x${BigInt(value).toString(16)}`;
  return /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(value) ? value.toLowerCase() : value;
}

/** A short form of an element, for people. */
function show(node: XmlNode): string {
  const attributes = Object.entries(node.attributes).map(([key, value]) => ` ${key}="${value}"`);
  return `<${node.name}${attributes.join("")}>${textOf(node)}`;
}
