import type { XmlTree } from "@virtkit/conformance/recorded";
import { parseCpuList } from "../placement/cpu-list.ts";

const bytesPerKib = 1024n;

/** A document as libvirt writes it back: amounts in KiB, lists of CPUs and nodes as ranges. */
export function libvirtNotation(tree: XmlTree): XmlTree {
  const { name, children, text } = tree;
  const attributes = Object.fromEntries(
    Object.entries(tree.attributes).map(([key, value]) => [
      key,
      isList(key) ? ranges(value) : value,
    ]),
  );
  if (attributes["unit"] !== "b") {
    return { name, attributes, text, children: children.map(libvirtNotation) };
  }
  attributes["unit"] = "KiB";
  for (const key of ["memory", "size"]) {
    if (attributes[key] !== undefined) attributes[key] = kib(attributes[key]);
  }
  return {
    name,
    attributes,
    text: text === "" ? "" : kib(text),
    children: children.map(libvirtNotation),
  };
}

/** libvirt rounds up. */
function kib(bytes: string): string {
  return String((BigInt(bytes.trim()) + bytesPerKib - 1n) / bytesPerKib);
}

function isList(attribute: string): boolean {
  return attribute === "cpus" || attribute === "cpuset" || attribute === "nodeset";
}

function ranges(text: string): string {
  const numbers = (parseCpuList(text) ?? []).sort((one, other) => one - other);
  const parts: string[] = [];
  for (let at = 0; at < numbers.length; at++) {
    const first = at;
    while (numbers[at + 1] === (numbers[at] ?? 0) + 1) at++;
    parts.push(first === at ? `${numbers[at]}` : `${numbers[first]}-${numbers[at]}`);
  }
  return parts.length > 0 ? parts.join(",") : text;
}
