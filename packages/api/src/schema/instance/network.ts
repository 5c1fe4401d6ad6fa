import { type ClaimRequest, ClaimRequestSchema } from "../devices/host-device.ts";
import { boolean, object, required, type Schema, string } from "../schema.ts";

/** A further network, by its attachment definition. */
export interface MultusNetwork {
  default?: boolean;
  networkName: string;
}

export const MultusNetworkSchema: Schema<MultusNetwork> = object<MultusNetwork>({
  default: boolean,
  networkName: required(string),
});

/** The Pod's own network. */
export interface PodNetwork {
  vmIPv6NetworkCIDR?: string;
  vmNetworkCIDR?: string;
}

export const PodNetworkSchema: Schema<PodNetwork> = object<PodNetwork>({
  vmIPv6NetworkCIDR: string,
  vmNetworkCIDR: string,
});

/** A network that an interface of the same name attaches to; exactly one source is set. */
export interface Network {
  multus?: MultusNetwork;
  name: string;
  pod?: PodNetwork;
  resourceClaim?: ClaimRequest;
}

export const NetworkSchema: Schema<Network> = object<Network>({
  multus: MultusNetworkSchema,
  name: required(string),
  pod: PodNetworkSchema,
  resourceClaim: ClaimRequestSchema,
});
