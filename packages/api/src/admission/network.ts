import type { ClusterConfig } from "../config/index.ts";
import type { Interface, Network, VirtualMachineInstanceSpec } from "../schema/index.ts";
import {
  type Cause,
  countSet,
  duplicate,
  each,
  fine,
  invalid,
  join,
  quote,
  required,
} from "./cause.ts";
import { interfaceFields } from "./interface.ts";
import { interfaceBindings } from "./interface-binding.ts";
import { interfaceStates } from "./interface-state.ts";
import { networkClaims } from "./network-claim.ts";

/** The networks, the interfaces, and whether they match. */
export function networks(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  if (!spec.networks?.length && !spec.domain.devices.interfaces?.length) return fine;
  return join(
    defaultNetwork(spec, at),
    networkSources(spec, at),
    networkNames(spec, at),
    interfaceStates(spec, at),
    interfaceBindings(spec, at, config),
    uniqueNetworks(spec, at),
    networkClaims(spec, at, config),
    networksHaveInterfaces(spec, at),
    uniqueInterfaces(spec, at),
    interfacesHaveNetworks(spec, at),
    interfaceFields(spec, at, config),
  );
}

/** Bindings that KubeVirt has removed; refused for new objects only, so that old ones can be edited. */
export function discontinuedBindings(
  spec: VirtualMachineInstanceSpec,
  at: string,
): readonly Cause[] {
  const interfaces = spec.domain.devices.interfaces;
  if (!interfaces?.length) return fine;
  return each(interfaces, (iface, i) =>
    (["slirp", "passt", "macvtap"] as const)
      .filter((binding) => iface[binding])
      .flatMap((binding) =>
        invalid(
          `${at}.domain.devices.interfaces[${i}].${binding}`,
          "is no longer supported; use masquerade, bridge, passtBinding or a binding plugin",
        ),
      ),
  );
}

/** A Pod has one default network. */
function defaultNetwork(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const all = spec.networks ?? [];
  const pods = all.filter((network) => network.pod).length;
  const multus = all.filter((network) => network.multus?.default).length;
  return join(
    pods > 1
      ? duplicate(
          `${at}.interfaces`,
          `has ${pods} entries with \`pod\`; a Pod has one network of its own; keep one`,
          `${at}.networks`,
        )
      : fine,
    multus > 1
      ? invalid(`${at}.networks`, `has ${multus} entries with multus.default; keep one`)
      : fine,
    pods > 0 && multus > 0
      ? invalid(
          `${at}.networks`,
          "has the Pod network and a multus.default, which replaces it; keep one",
        )
      : fine,
  );
}

/** A network has one kind. */
function networkSources(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  return each(spec.networks, (network, i) => {
    const sources = countSet(network.pod, network.multus, network.resourceClaim);
    if (sources === 1) return fine;
    const found = sources === 0 ? "has none" : "has more than one";
    return required(`${at}.networks[${i}]`, `${found} of pod, multus, resourceClaim; set one`);
  });
}

/** A Multus network names its definition; the first fault is reported. */
function networkNames(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const index = spec.networks?.findIndex(({ multus }) => multus && !multus.networkName) ?? -1;
  if (index < 0) return fine;
  return required(
    `${at}.networks[${index}]`,
    "has multus without networkName; name a NetworkAttachmentDefinition",
  );
}

function uniqueNetworks(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  return repeated(spec.networks).flatMap(({ name, index }) =>
    duplicate(
      `${at}.networks[${index}].name`,
      `is ${quote(name)}, as in an earlier network; rename one`,
    ),
  );
}

function uniqueInterfaces(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  return repeated(spec.domain.devices.interfaces).flatMap(({ name, index }) =>
    duplicate(
      `${at}.domain.devices.interfaces[${index}].name`,
      `is ${quote(name)}, as in an earlier interface; a network has one interface`,
    ),
  );
}

function networksHaveInterfaces(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const names = new Set(spec.domain.devices.interfaces?.map((iface) => iface.name));
  return each(spec.networks, ({ name }, i) =>
    names.has(name)
      ? fine
      : required(
          `${at}.networks[${i}].name`,
          `is ${quote(name)}, but no interface has that name; add one to domain.devices.interfaces`,
        ),
  );
}

function interfacesHaveNetworks(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const names = new Set(spec.networks?.map((network) => network.name));
  return each(spec.domain.devices.interfaces, ({ name }, i) =>
    names.has(name)
      ? fine
      : invalid(
          `${at}.domain.devices.interfaces[${i}].name`,
          `is ${quote(name)}, but no network has that name; add one to networks`,
        ),
  );
}

function repeated(
  items: readonly (Network | Interface)[] | undefined,
): readonly { name: string; index: number }[] {
  const seen = new Set<string>();
  const found: { name: string; index: number }[] = [];
  for (const [index, { name }] of items?.entries() ?? []) {
    if (seen.has(name)) found.push({ name, index });
    seen.add(name);
  }
  return found;
}
