import { type FeatureState, FeatureStateSchema } from "../domain/feature-state.ts";
import { boolean, object, required, type Schema, string } from "../schema.ts";

/** Whether the GPU has a display, and one before its driver runs. */
export interface VGPUDisplayOptions {
  /** On if absent. */
  enabled?: boolean;
  /** Has a display before the driver runs; on if absent. */
  ramFB?: FeatureState;
}

export const VGPUDisplayOptionsSchema: Schema<VGPUDisplayOptions> = object<VGPUDisplayOptions>({
  enabled: boolean,
  ramFB: FeatureStateSchema,
});

/** Settings of a virtual GPU. */
export interface VGPUOptions {
  display?: VGPUDisplayOptions;
}

export const VGPUOptionsSchema: Schema<VGPUOptions> = object<VGPUOptions>({
  display: VGPUDisplayOptionsSchema,
});

/** A GPU of the node that is assigned to the guest. */
export interface GPU {
  /** With dynamic resource allocation: the claim in `resourceClaims`. */
  claimName?: string;
  /** Resource name of the device plugin. */
  deviceName?: string;
  name: string;
  /** With dynamic resource allocation: the request within the claim. */
  requestName?: string;
  /** Passed to the guest as metadata of the device. */
  tag?: string;
  virtualGPUOptions?: VGPUOptions;
}

export const GPUSchema: Schema<GPU> = object<GPU>({
  claimName: string,
  deviceName: string,
  name: required(string),
  requestName: string,
  tag: string,
  virtualGPUOptions: VGPUOptionsSchema,
});
