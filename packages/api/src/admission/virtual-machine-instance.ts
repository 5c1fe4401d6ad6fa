import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachineInstance, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Admission, judge, refuseShape } from "./admission.ts";
import { architecture } from "./architecture.ts";
import { type Cause, each, fine, join, notSupported } from "./cause.ts";
import { decodeInstance } from "./decode-virtual-machine.ts";
import { hyperv } from "./hyperv.ts";
import { mandatoryMemory } from "./memory.ts";
import { metadata } from "./metadata.ts";
import { discontinuedBindings, networks } from "./network.ts";
import { graceAnnotations } from "./nvidia-grace.ts";
import { type SpecRule, specCauses, specRules } from "./spec.ts";
import { volumeMapping } from "./volume-mapping.ts";

/** Gates of removed features, and how to detect that a VMI still uses one. */
const discontinuedGates = { Passt: "passt", Macvtap: "macvtap" } as const;

/** A VMI must not use removed features, even if the cluster still lists the gate. */
export const discontinuedFeatures: SpecRule = (spec, at, config) => {
  const listed = config.configuration.developerConfiguration.featureGates;
  if (!listed?.length) return fine;
  return each(listed, (gate) => {
    const binding = Object.hasOwn(discontinuedGates, gate)
      ? discontinuedGates[gate as keyof typeof discontinuedGates]
      : undefined;
    if (!binding || !spec.domain.devices.interfaces?.some((iface) => iface[binding])) return fine;
    return notSupported(
      undefined,
      `${at}.domain.devices.interfaces uses ${binding}, which was removed although the feature gate ${gate} is listed; use another binding`,
    );
  });
};

const beforeMetadata: readonly SpecRule[] = [
  discontinuedFeatures,
  discontinuedBindings,
  // KubeVirt reports the networks first, and then again in their place; once is enough.
  networks,
  ...specRules.filter((rule) => rule !== networks),
  volumeMapping,
  mandatoryMemory,
];

const afterMetadata: readonly SpecRule[] = [hyperv, architecture];

/** Judges a new VirtualMachineInstance. */
export function admitNewInstance(
  object: unknown,
  config: ClusterConfig,
  byKubeVirt: boolean,
): Admission {
  const decoded = decodeInstance(object);
  if (!decoded.ok) return refuseShape(decoded);
  return judge(instanceCauses(decoded.object, config, byKubeVirt));
}

/** Everything that is wrong with a new VirtualMachineInstance that has the shape of its schema. */
export function instanceCauses(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  byKubeVirt: boolean,
): readonly Cause[] {
  const spec: VirtualMachineInstanceSpec = vmi.spec;
  return join(
    specCauses(spec, "spec", config, beforeMetadata),
    metadata(vmi.metadata, { at: "metadata", config, byKubeVirt }),
    graceAnnotations(spec, vmi.metadata, { at: "metadata", config }),
    specCauses(spec, "spec", config, afterMetadata),
  );
}
