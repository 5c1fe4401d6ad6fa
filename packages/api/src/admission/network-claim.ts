import type { ClusterConfig } from "../config/index.ts";
import type { Network, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, duplicate, fine, invalid, notFound, quote, required } from "./cause.ts";

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
      "has a resourceClaim and the feature gate NetworkDevicesWithDRA is off; turn it on",
    );
  }
  if (networks.some((network) => network.multus)) {
    return invalid(field, "mixes multus and resourceClaim; use one kind in a virtual machine");
  }
  const firstOf = firstIndexByClaim(spec);
  return networks.flatMap((network, i) =>
    network.resourceClaim ? claim(spec, network, { at, index: i, firstOf }) : fine,
  );
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
  spec: VirtualMachineInstanceSpec,
  network: Network,
  where: { at: string; index: number; firstOf: ReadonlyMap<string, number> },
): readonly Cause[] {
  const { at, index, firstOf } = where;
  const { claimName = "", requestName = "" } = network.resourceClaim ?? {};
  const field = `${at}.networks[${index}]`;
  const binding = boundToDevice(spec, network.name, at);
  if (!claimName || !requestName) {
    return [
      ...binding,
      ...(claimName ? fine : required(`${field}.resourceClaim.claimName`, "is missing")),
      ...(requestName ? fine : required(`${field}.resourceClaim.requestName`, "is missing")),
    ];
  }
  const pair = `${claimName}/${requestName}`;
  return [
    ...binding,
    ...(spec.resourceClaims?.some(({ name }) => name === claimName)
      ? fine
      : notFound(
          `${field}.resourceClaim.claimName`,
          `is ${quote(claimName)}, which resourceClaims does not list; add it there`,
        )),
    ...(firstOf.get(pair) === index
      ? fine
      : duplicate(
          field,
          `uses ${quote(pair)}, as an earlier network does; a request is one device`,
        )),
  ];
}

function boundToDevice(
  spec: VirtualMachineInstanceSpec,
  name: string,
  at: string,
): readonly Cause[] {
  const iface = spec.domain.devices.interfaces?.find((candidate) => candidate.name === name);
  if (!iface || iface.sriov || iface.binding) return fine;
  return invalid(
    `${at}.domain.devices.interfaces`,
    `has no sriov or binding plugin for ${quote(name)}, which is a resourceClaim; use one of them`,
  );
}
