import { type Domain, domainElement } from "../model/domain.ts";
import type { AnyElementType, AnyField } from "../model/element.ts";
import type { XmlElement, XmlExtra } from "../model/extensible.ts";

/** An element or attribute of a domain's XML, before it is written. */
export interface TreeNode {
  readonly kind: "element" | "attribute";
  readonly name: string;
  /** The value of an attribute, or the text of an element, if any. */
  value: string | undefined;
  readonly attributes: readonly TreeNode[];
  readonly children: readonly TreeNode[];
  /** Text and elements in their order, for unknown elements that mix them. */
  readonly mixed?: readonly (string | TreeNode)[] | undefined;
  /** Place among the items of its list, if it is in one. */
  at: number | undefined;
  /** The model object that it represents, or that holds it under `key`. */
  readonly owner: object;
  readonly key: string | undefined;
}

interface Building extends TreeNode {
  readonly attributes: TreeNode[];
  readonly children: TreeNode[];
}

const none: TreeNode[] = [];

/** The elements and attributes that `toXml` would write, in their order. The domain must be writable. */
export function domainTree(domain: Domain): TreeNode {
  return elementNode("domain", domainElement, domain as unknown as Record<string, unknown>);
}

function elementNode(
  name: string,
  type: AnyElementType,
  object: Record<string, unknown>,
): TreeNode {
  const node = start(name, object, undefined);
  for (const [key, field] of type.fields) {
    const value = object[key];
    if (value !== undefined) addField(node, field, key, value, object);
  }
  const extra = object["extra"] as XmlExtra | undefined;
  if (extra) addExtra(node, extra.attributes, (extra.children ?? []).filter(isElement));
  return node;
}

/** Text beside the model's own elements occurs only in what was read, never in what was made. */
function isElement(child: XmlElement | string): child is XmlElement {
  return typeof child !== "string";
}

function start(name: string, owner: object, key: string | undefined): Building {
  return {
    kind: "element",
    name,
    value: undefined,
    attributes: [],
    children: [],
    at: undefined,
    owner,
    key,
  };
}

function placed(node: TreeNode, at: number): TreeNode {
  node.at = at;
  return node;
}

function addField(
  node: Building,
  field: AnyField,
  key: string,
  value: unknown,
  owner: object,
): void {
  switch (field.kind) {
    case "attribute":
      node.attributes.push(scalarNode("attribute", field.name ?? key, String(value), owner, key));
      return;
    case "text":
      node.value = String(value);
      return;
    case "leaf":
      node.children.push(scalarNode("element", field.name ?? key, String(value), owner, key));
      return;
    case "flag":
      node.children.push(scalarNode("element", field.name ?? key, undefined, owner, key));
      return;
    case "child":
      node.children.push(elementNode(field.name ?? key, field.element, recordOf(value)));
      return;
    case "children":
      for (const [at, item] of (value as unknown[]).entries()) {
        node.children.push(placed(elementNode(field.name, field.element, recordOf(item)), at));
      }
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return value as Record<string, unknown>;
}

function scalarNode(
  kind: TreeNode["kind"],
  name: string,
  value: string | undefined,
  owner: object,
  key: string,
): TreeNode {
  const at = undefined;
  return { kind, name, value, attributes: none, children: none, at, owner, key };
}

function addExtra(
  node: Building,
  attributes: Readonly<Record<string, string>> | undefined,
  children: readonly XmlElement[],
): void {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    // The model's value of an attribute takes precedence; this one is not written.
    if (node.attributes.some((own) => own.name === name)) continue;
    node.attributes.push(scalarNode("attribute", name, String(value), attributes as object, name));
  }
  for (const [at, child] of children.entries()) node.children.push(placed(extraNode(child), at));
}

function extraNode(element: XmlElement): TreeNode {
  const content = (element.children ?? []).map((child, at) =>
    typeof child === "string" ? child : placed(extraNode(child), at),
  );
  const elements = content.filter((child) => typeof child !== "string");
  const texts = content.filter((child) => typeof child === "string");
  const node: Building = {
    ...start(element.name, element, undefined),
    value: texts.length > 0 ? texts.join("") : undefined,
    children: elements,
    mixed: texts.length > 0 ? content : undefined,
  };
  addExtra(node, element.attributes, []);
  return node;
}
