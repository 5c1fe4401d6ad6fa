import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { readXmlTree, type XmlTree } from "@virtkit/conformance/recorded";
import type { ConverterContext } from "../context.ts";
import { convert } from "../convert.ts";
import type { ExplainedNode, Source } from "../explain/explanation.ts";
import { toXml } from "../xml/to-xml.ts";

/** A claim that a node of a conversion depends on a field of the VMI or of its context. */
export interface Claim {
  readonly vmi: VirtualMachineInstance;
  readonly context: ConverterContext;
  readonly node: ExplainedNode;
  readonly source: Source;
}

type Path = (string | number)[];
type Given = Pick<Claim, "vmi" | "context">;

/**
 * Whether changing the named field changes or removes the node. Shares nothing with `explain`: changes JSON in
 * its own ways, and reads the XML. `needed`: no change of the field leaves a domain to look at; damaging a
 * field does not count if it can be changed in another way.
 */
export function checkClaim({ vmi, context, node, source }: Claim): "holds" | "fails" | "needed" {
  const before = stateAt(toXml(convert(vmi, context)), node.path);
  const documents = mutations(JSON.stringify({ vmi, context }), source).map(xmlOf);
  const made = documents.filter((xml) => xml !== undefined);
  if (made.length === 0) return "needed";
  return made.some((xml) => stateAt(xml, node.path) !== before) ? "holds" : "fails";
}

/** Another field of the same VMI that a planted fault could name. */
export function misattributed({ source, node }: Claim): Source {
  const path = node.path === "name" ? "spec.domain.memory.guest" : "metadata.name";
  return { ...source, kind: "field", path };
}

function mutations(given: string, { kind, path, value }: Source): Given[] {
  const steps = parsePath(kind === "field" ? `vmi.${path}` : path);
  const replaced = others(value).map((other) => replace(JSON.parse(given), steps, other));
  return typeof value === "string" && steps.at(-1) === "name"
    ? [...replaced, rename(given, value)]
    : replaced;
}

const gone = Symbol("gone");

/** Values that mean something somewhere. */
const words =
  "writeback virtio scsi sata e1000 arm64 s390x hyperv-direct absent down 7Gi 9 no qcow2 raw".split(
    " ",
  );

function others(value: unknown): unknown[] {
  if (typeof value === "boolean") return [gone, !value];
  if (typeof value === "number") return [gone, value + 1, value * 2 + 4];
  if (Array.isArray(value)) return [gone, ...value.map((_, at) => value.toSpliced(at, 1))];
  if (typeof value !== "string") return [gone];
  return [gone, ...words, `${value}9`, value.replace(/.$/, "1"), value.replace(/.$/, "2")];
}

function replace(root: Given, path: Path, value: unknown): Given {
  let holder = root as unknown as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) holder = holder[step] as typeof holder;
  const last = path.at(-1) ?? "";
  if (value !== gone) holder[last] = value;
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return root;
}

function rename(given: string, name: string): Given {
  return JSON.parse(given.replaceAll(JSON.stringify(name), JSON.stringify(`${name}-renamed`)));
}

function parsePath(path: string): Path {
  const steps = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g);
  return Array.from(steps, ([, key, index, name]) => (index ? Number(index) : (key ?? name ?? "")));
}

function xmlOf({ vmi, context }: Given): string | undefined {
  try {
    return toXml(convert(vmi, context));
  } catch {
    return undefined;
  }
}

/** What can be seen of a node: its presence, its value, and the length of its lists. */
function stateAt(xml: string, path: string): string {
  let current: XmlTree | undefined = readXmlTree(xml);
  const seen: unknown[] = [];
  for (const step of path === "domain" ? [] : splitSteps(path)) {
    if (step.startsWith("@")) return JSON.stringify([...seen, current?.attributes[step.slice(1)]]);
    const [, name = "", at = "0"] = /^(.*?)(?:\[(\d+)\])?$/.exec(step) ?? [];
    const siblings: XmlTree[] = (current?.children ?? []).filter((child) => child.name === name);
    seen.push(siblings.length);
    current = siblings[Number(at)];
  }
  return JSON.stringify([...seen, current?.text ?? "none"]);
}

function splitSteps(path: string): string[] {
  return path.split(".");
}
