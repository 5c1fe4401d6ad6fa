import type { Domain, XmlElement } from "@virtkit/converter/model";

/** Blocks in which memory is plugged in: transparent huge pages, or huge pages of 1 GiB. */
const blockBytes = 2n ** 21n;
const hugeBlockBytes = 2n ** 30n;

/** How memory is plugged into a guest. */
export interface MemoryPlug {
  /** Whether the guest has the device already. */
  readonly how: "update" | "attach";
  readonly device: XmlElement;
}

/**
 * The device that gives a running guest `to` bytes of memory in total: its own one with another requested
 * size, or a first one with the guest's maximum size.
 */
export function memoryPlug(running: Domain, to: bigint): MemoryPlug {
  const device = (running.devices.extra?.children ?? []).find(
    (child): child is XmlElement => typeof child !== "string" && child.name === "memory",
  );
  const total = bytes(running.memory.value, running.memory.unit);
  if (!device) {
    const limit = running.maxMemory ? bytes(running.maxMemory.value, running.maxMemory.unit) : to;
    return { how: "attach", device: newDevice(running, limit - total, to - total) };
  }
  const atBoot = total - amount(device, "size");
  return { how: "update", device: withRequested(device, to - atBoot) };
}

function newDevice(running: Domain, size: bigint, requested: bigint): XmlElement {
  const pages = running.memoryBacking?.hugepages?.page ?? [];
  const huge = pages.some((page) => bytes(page.size, page.unit) === hugeBlockBytes);
  const children = [
    inBytes("size", size),
    { name: "node", children: ["0"] },
    inBytes("block", huge ? hugeBlockBytes : blockBytes),
    inBytes("requested", requested),
  ];
  return {
    name: "memory",
    attributes: { model: "virtio-mem" },
    children: [{ name: "target", children }],
  };
}

function withRequested(device: XmlElement, requested: bigint): XmlElement {
  return replace(device, "target", (target) =>
    replace(target, "requested", () => inBytes("requested", requested)),
  );
}

function replace(
  element: XmlElement,
  name: string,
  change: (child: XmlElement) => XmlElement,
): XmlElement {
  const children = (element.children ?? []).map((child) =>
    typeof child !== "string" && child.name === name ? change(child) : child,
  );
  return { ...element, children };
}

function inBytes(name: string, value: bigint): XmlElement {
  return { name, attributes: { unit: "b" }, children: [String(value)] };
}

function amount(device: XmlElement, name: string): bigint {
  const target = childOf(device, "target");
  const found = target && childOf(target, name);
  const text = found?.children?.[0];
  if (typeof text !== "string" || !/^\s*\d+\s*$/.test(text)) return 0n;
  return bytes(BigInt(text.trim()), found?.attributes?.["unit"]);
}

function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return (element.children ?? []).find(
    (child): child is XmlElement => typeof child !== "string" && child.name === name,
  );
}

/** Units of libvirt; without one it means KiB. */
const units: Readonly<Record<string, bigint>> = {
  b: 1n,
  bytes: 1n,
  KiB: 1n << 10n,
  MiB: 1n << 20n,
  GiB: 1n << 30n,
  TiB: 1n << 40n,
};

function bytes(value: number | bigint, unit: string | undefined): bigint {
  return BigInt(value) * (units[unit ?? "KiB"] ?? 1n << 10n);
}
