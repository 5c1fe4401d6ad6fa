import type { XmlNode } from "@virtkit/converter/xml";
import { MigrationError } from "../migration-error.ts";
import { type AbiRule, byLabel, elementsOf, type Sight, textOf } from "./abi-rule.ts";

/**
 * A domain with what the guest sees of the source's, and what the host sees of the target's own.
 *
 * @throws MigrationError `MIGRATION_XML_INVALID` for an element that the rules do not know,
 * `MIGRATION_ABI_CHANGED` for a device of the source's that the target does not have.
 */
export function joinDomains(source: XmlNode, own: XmlNode, rule: AbiRule): XmlNode {
  return join(source, own, rule, "domain");
}

function join(source: XmlNode, own: XmlNode | undefined, rule: AbiRule, path: string): XmlNode {
  const { children: rules = {} } = rule;
  const children = [...seenByGuest(source, own, rules, path), ...seenByHost(own, rules)];
  const text = textOf(rule.hostText ? (own ?? nothing) : source);
  return {
    ...source,
    attributes: joinAttributes(source, own, new Set(rule.hostAttributes)),
    children: text === "" ? children : [text, ...children],
  };
}

type Rules = Readonly<Record<string, Sight>>;

const sightOf = (rules: Rules, { name }: XmlNode): Sight | undefined =>
  Object.hasOwn(rules, name) ? rules[name] : undefined;

function* seenByGuest(
  source: XmlNode,
  own: XmlNode | undefined,
  rules: Rules,
  path: string,
): Generator<XmlNode> {
  const counterparts = byLabel(elementsOf(own ?? nothing), rules);
  for (const [label, child] of byLabel(elementsOf(source), rules)) {
    const at = `${path}/${label}`;
    const sight = sightOf(rules, child);
    if (sight === undefined) throw unknown(at, child);
    if (sight === "guest") yield child;
    if (typeof sight !== "object") continue;
    const counterpart = counterparts.get(label);
    if (sight.needsOwn && !counterpart) throw missing(at);
    yield join(child, counterpart, sight, at);
  }
}

function seenByHost(own: XmlNode | undefined, rules: Rules): readonly XmlNode[] {
  return elementsOf(own ?? nothing).filter((child) => {
    const sight = sightOf(rules, child);
    return sight === "host" || sight === "own";
  });
}

const nothing: XmlNode = { name: "", attributes: {}, children: [], line: 0, column: 0 };

/** Namespace declarations belong to the elements that need them, from either side. */
function joinAttributes(
  { attributes: source }: XmlNode,
  own: XmlNode | undefined,
  host: ReadonlySet<string>,
): Record<string, string> {
  const isOwn = (key: string): boolean => host.has(key) || key.startsWith("xmlns");
  const guest = Object.entries(source).filter(([key]) => !isOwn(key));
  const ours = Object.entries(own?.attributes ?? {}).filter(([key]) => isOwn(key));
  return Object.fromEntries([...guest, ...ours]);
}

function unknown(path: string, { line, column }: XmlNode): MigrationError {
  const message = `${path}: is unknown (line ${line}, column ${column}), so it is not accepted from a source`;
  return new MigrationError("MIGRATION_XML_INVALID", message, { path });
}

function missing(path: string): MigrationError {
  const message = `${path}: the guest has it, but this target has nothing to back it`;
  return new MigrationError("MIGRATION_ABI_CHANGED", message, { path });
}
