import type { ClusterConfig } from "../config/index.ts";
import type { Interface, Network, VirtualMachineInstanceSpec } from "../schema/index.ts";
import {
  type Cause,
  duplicate,
  each,
  fine,
  invalid,
  join,
  notFound,
  quote,
  required,
} from "./cause.ts";

/** Networks that are devices of a ResourceClaim (dynamic resource allocation). */
export function networkClaims(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const networks = spec.networks ?? [];
  if (!networks.some((network) => network.resourceClaim)) return fine;
  const field = `${at}.networks`;
  if (!config.gate("NetworkDevicesWithDRA")) {
    return invalid(
      field,
      "has a resourceClaim, but the feature gate NetworkDevicesWithDRA is off; turn it on",
    );
  }
  if (networks.some((network) => network.multus)) {
    return invalid(field, "mixes multus and resourceClaim; use one kind in a VMI");
  }
  const known: Known = {
    firstOf: firstIndexByClaim(spec),
    listed: new Set(spec.resourceClaims?.map(({ name }) => name)),
    interfaces: new Map(spec.domain.devices.interfaces?.map((iface) => [iface.name, iface])),
  };
  return each(networks, (network, index) =>
    network.resourceClaim ? claim(network, { at, index, known }) : fine,
  );
}

interface Known {
  readonly firstOf: ReadonlyMap<string, number>;
  readonly listed: ReadonlySet<string>;
  readonly interfaces: ReadonlyMap<string, Interface>;
}

/** The first network for each complete pair of claim and request. */
export function firstIndexByClaim(spec: VirtualMachineInstanceSpec): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const [index, { resourceClaim: claim }] of spec.networks?.entries() ?? []) {
    if (!claim?.claimName || !claim.requestName) continue;
    const pair = `${claim.claimName}/${claim.requestName}`;
    if (!first.has(pair)) first.set(pair, index);
  }
  return first;
}

function claim(
  network: Network,
  { at, index, known }: { at: string; index: number; known: Known },
): readonly Cause[] {
  const { claimName = "", requestName = "" } = network.resourceClaim ?? {};
  const field = `${at}.networks[${index}]`;
  const binding = boundToDevice(known.interfaces.get(network.name), at);
  if (!claimName || !requestName) {
    return join(
      binding,
      claimName ? fine : required(`${field}.resourceClaim.claimName`, "is missing; set it"),
      requestName ? fine : required(`${field}.resourceClaim.requestName`, "is missing; set it"),
    );
  }
  const pair = `${claimName}/${requestName}`;
  return join(
    binding,
    known.listed.has(claimName)
      ? fine
      : notFound(
          `${field}.resourceClaim.claimName`,
          `is ${quote(claimName)}, which resourceClaims does not list; add it there`,
        ),
    known.firstOf.get(pair) === index
      ? fine
      : duplicate(
          field,
          `uses ${quote(pair)}, as an earlier network does; each request is one device`,
        ),
  );
}

function boundToDevice(iface: Interface | undefined, at: string): readonly Cause[] {
  if (!iface || iface.sriov || iface.binding) return fine;
  return invalid(
    `${at}.domain.devices.interfaces`,
    `has no sriov or binding plugin for ${quote(iface.name)}, which is a resourceClaim; use one of them`,
  );
}
