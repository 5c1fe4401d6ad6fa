import { goJson } from "../go-json.ts";
import type { Interface, InterfaceBindingPlugin, Network } from "../schema/index.ts";
import { at, entry, isSet, text } from "../shape.ts";
import { isSecondary } from "./interfaces.ts";
import type { PodInterfaceNames } from "./pod-interface-names.ts";

/** The annotation that asks Multus for secondary interfaces. */
export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";

/** Binding plugins by name, from the cluster configuration. */
export type BindingPlugins = Readonly<Record<string, InterfaceBindingPlugin>>;

/** Why no annotation can be written. */
export interface NetworkProblem {
  /** `unknown-binding`: the plugin is not registered. `missing-interface`: a network has no interface. */
  readonly kind: "unknown-binding" | "missing-interface";
  /** Name of the plugin, or of the network. */
  readonly name: string;
  readonly path: string;
  readonly message: string;
}

/** The value of the annotation, or why there is none. An empty value asks for nothing. */
export type MultusAnnotation = { readonly value: string } | { readonly problem: NetworkProblem };

interface Selection {
  readonly name: string;
  readonly namespace?: string;
  readonly mac?: string;
  readonly interface?: string;
  readonly "cni-args"?: Readonly<Record<string, string>>;
}

/** A network attachment definition by namespace and name; a name without `/` is in `namespace`. */
export function attachmentDefinition(
  namespace: string,
  reference: string,
): { readonly namespace: string; readonly name: string } {
  const slash = reference.indexOf("/");
  if (slash < 0) return { namespace, name: reference };
  return { namespace: reference.slice(0, slash), name: reference.slice(slash + 1) };
}

/**
 * Asks Multus for every secondary network, and for the extra attachment that a binding plugin may have. The
 * order is that of the networks.
 */
export function multusAnnotation(
  namespace: string,
  interfaces: readonly Interface[],
  networks: readonly Network[],
  names: PodInterfaceNames,
  plugins: BindingPlugins,
): MultusAnnotation {
  const selections: Selection[] = [];
  for (const network of networks) {
    const iface = interfaces.find(({ name }) => name === network.name);
    if (isSecondary(network)) selections.push(select(namespace, iface, network, names));
    if (!iface) return { problem: missingInterface(text(network.name)) };
    if (!isSet(iface.binding)) continue;
    const pluginName = text(at(iface.binding, "name"));
    const plugin = at(plugins, pluginName);
    if (plugin === undefined) return { problem: unknownBinding(text(iface.name), pluginName) };
    const definition = entry(plugin, "networkAttachmentDefinition");
    if (definition) selections.push(selectForPlugin(namespace, definition, network));
  }
  return { value: selections.length === 0 ? "" : goJson(selections) };
}

function select(
  namespace: string,
  iface: Interface | undefined,
  network: Network,
  names: PodInterfaceNames,
): Selection {
  const definition = attachmentDefinition(namespace, text(at(network.multus, "networkName")));
  const mac = text(iface?.macAddress);
  const podInterface = names.get(text(network.name)) ?? "";
  return {
    ...reference(definition),
    ...(mac ? { mac } : {}),
    ...(podInterface ? { interface: podInterface } : {}),
  };
}

function selectForPlugin(namespace: string, definition: string, network: Network): Selection {
  return {
    ...reference(attachmentDefinition(namespace, definition)),
    // This argument tells the plugin's CNI which of the Pod's networks to change.
    "cni-args": { logicNetworkName: text(network.name) },
  };
}

function reference({ namespace, name }: { namespace: string; name: string }): Selection {
  return namespace ? { name, namespace } : { name };
}

function unknownBinding(iface: string, plugin: string): NetworkProblem {
  return {
    kind: "unknown-binding",
    name: plugin,
    path: "spec.domain.devices.interfaces",
    message: `interface "${iface}" uses the binding plugin "${plugin}", which the cluster configuration does not register; add it under network.binding or choose another binding`,
  };
}

function missingInterface(network: string): NetworkProblem {
  return {
    kind: "missing-interface",
    name: network,
    path: "spec.networks",
    message: `network "${network}" has no interface of the same name; add one or remove the network`,
  };
}
