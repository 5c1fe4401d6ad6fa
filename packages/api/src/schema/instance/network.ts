import { type ClaimRequest, ClaimRequestSchema } from "../devices/host-device.ts";
import { boolean, object, required, type Schema, string } from "../schema.ts";

/** An additional network, by its attachment definition. */
export interface MultusNetwork {
  /** Replaces the Pod's own network. */
  default?: boolean;
  /** `name` or `namespace/name` of a NetworkAttachmentDefinition. */
  networkName: string;
}

export const MultusNetworkSchema: Schema<MultusNetwork> = object<MultusNetwork>({
  default: boolean,
  networkName: required(string),
});

/** The Pod's own network. */
export interface PodNetwork {
  /** The guest's IPv6 network behind masquerade; `fd10:0:2::/120` if absent. */
  vmIPv6NetworkCIDR?: string;
  /** The guest's network behind masquerade; `10.0.2.0/24` if absent. */
  vmNetworkCIDR?: string;
}

export const PodNetworkSchema: Schema<PodNetwork> = object<PodNetwork>({
  vmIPv6NetworkCIDR: string,
  vmNetworkCIDR: string,
});

/** A network for the interface of the same name; exactly one source is set. */
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
