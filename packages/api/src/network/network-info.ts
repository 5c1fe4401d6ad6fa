import { goJson } from "../go-json.ts";
import type { Interface, Network } from "../schema/index.ts";
import { at, entry, isObject, isSet, type JsonObject, text } from "../shape.ts";
import type { BindingPlugins } from "./multus-annotation.ts";
import { type NetworkStatus, statusesByInterface } from "./network-status.ts";
import { podInterfaces } from "./pod-interface-names.ts";

/** Fields of a device, in the order in which KubeVirt writes them. */
const deviceFields = {
  "": ["type", "version", "pci", "vdpa", "vhost-user", "memif"],
  pci: ["pci-address", "vhost-net", "rdma-device", "pf-pci-address", "representor-device"],
  vdpa: ["parent-device", "driver", "path", "pci-address", "pf-pci-address", "representor-device"],
  "vhost-user": ["mode", "path"],
  memif: ["role", "path", "mode"],
} as const;

/**
 * What the launcher must know about the devices behind SR-IOV interfaces and of plugins that ask for it. Empty
 * while none of them is attached.
 */
export function networkInfo(
  interfaces: readonly Interface[],
  networks: readonly Network[],
  statuses: readonly NetworkStatus[],
  plugins: BindingPlugins,
): string {
  const names = podInterfaces(networks, statuses);
  const attached = statusesByInterface(statuses);
  const found = new Map<string, NetworkStatus>();
  for (const iface of interfaces.filter((item) => wantsDeviceInfo(item, plugins))) {
    const name = text(iface.name);
    const status = attached.get(names.get(name) ?? "");
    if (status) found.set(name, status);
  }
  if (found.size === 0) return "";
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return goJson({ interfaces: sorted.map(([network, status]) => info(network, status)) });
}

/** Whether the launcher needs to know an interface's device. */
export function wantsDeviceInfo(iface: Interface, plugins: BindingPlugins): boolean {
  if (isSet(iface.sriov)) return true;
  const plugin = at(plugins, text(at(iface.binding, "name")));
  return isSet(iface.binding) && entry(plugin, "downwardAPI") === "device-info";
}

function info(network: string, { deviceInfo, mac, mtu }: NetworkStatus): JsonObject {
  return {
    network,
    ...(deviceInfo ? { deviceInfo: device(deviceInfo) } : {}),
    ...(mac ? { mac } : {}),
    ...(mtu ? { mtu } : {}),
  };
}

function device(value: JsonObject, kind: keyof typeof deviceFields = ""): JsonObject {
  const written: [string, unknown][] = [];
  for (const field of deviceFields[kind]) {
    const found = at(value, field);
    if (typeof found === "string" && found !== "") written.push([field, found]);
    else if (isObject(found) && isKind(field)) written.push([field, device(found, field)]);
  }
  return Object.fromEntries(written);
}

function isKind(field: string): field is keyof typeof deviceFields {
  return field !== "" && Object.hasOwn(deviceFields, field);
}
