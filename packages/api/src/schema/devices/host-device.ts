import { object, required, type Schema, string } from "../schema.ts";

/** A device of the node that is assigned to the guest. */
export interface HostDevice {
  /** With dynamic resource allocation: the claim in `resourceClaims`. */
  claimName?: string;
  /** Resource name of the device plugin. */
  deviceName?: string;
  name: string;
  /** With dynamic resource allocation: the request within the claim. */
  requestName?: string;
  /** Passed to the guest as metadata of the device. */
  tag?: string;
}

export const HostDeviceSchema: Schema<HostDevice> = object<HostDevice>({
  claimName: string,
  deviceName: string,
  name: required(string),
  requestName: string,
  tag: string,
});

/** A device from a resource claim of the VMI. */
export interface ClaimRequest {
  claimName?: string;
  requestName?: string;
}

export const ClaimRequestSchema: Schema<ClaimRequest> = object<ClaimRequest>({
  claimName: string,
  requestName: string,
});
