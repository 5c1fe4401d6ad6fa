import type { ClusterConfig, FeatureGate } from "../config/index.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid } from "./cause.ts";

type Rule = (
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
) => readonly Cause[];

/** A rule that refuses a field while its feature gate is off. */
function gated(
  gate: FeatureGate,
  path: string,
  isUsed: (spec: VirtualMachineInstanceSpec) => boolean,
  subject: string = path,
): Rule {
  return (spec, at, config) => {
    if (!isUsed(spec) || config.gate(gate)) return fine;
    return invalid(
      `${at}.${path}`,
      `needs the feature gate ${gate}, which is off; remove it or turn the gate on`,
      `${at}.${subject}`,
    );
  };
}

/** Host devices; an empty list is refused, too. */
export const hostDevices: Rule = gated(
  "HostDevices",
  "HostDevices",
  ({ domain }) => isSet(domain.devices.hostDevices),
  "domain.devices.hostDevices",
);

/** A VSOCK device between host and guest. */
export const vsock: Rule = gated(
  "VSOCK",
  "domain.devices.autoattachVSOCK",
  ({ domain }) => domain.devices.autoattachVSOCK === true,
);

/** Metrics of the host, over a serial port. */
export const downwardMetricsDevice: Rule = gated(
  "DownwardMetrics",
  "domain.devices.downwardMetrics",
  ({ domain }) => isSet(domain.devices.downwardMetrics),
);

/** What a reboot from inside the guest does. */
export const rebootPolicy: Rule = gated("RebootPolicy", "domain.rebootPolicy", ({ domain }) =>
  isSet(domain.rebootPolicy),
);

/** Locked memory beyond the guest's own. */
export const reservedOverhead: Rule = gated(
  "ReservedOverheadMemlock",
  "domain.memory.reservedOverhead",
  ({ domain }) => isSet(domain.memory?.reservedOverhead),
);
