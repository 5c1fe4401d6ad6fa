import { clusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import {
  typeProblem,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { type ConvertOptions, convert } from "./convert.ts";
import { malformedAt, malformedVmi } from "./malformed-vmi.ts";
import type { Domain } from "./model/domain.ts";
import type { Environment } from "./resolve/environment.ts";
import { withHostDisks } from "./resolve/host-disks.ts";
import { resolveContext } from "./resolve/resolve-context.ts";

/**
 * The libvirt domain that a VMI becomes in an environment: fills in the defaults, resolves the context, and
 * converts. The VMI is not changed. It may be incomplete, but must have the right shape; it is not validated as
 * admission does.
 *
 * @throws ConverterError if it cannot be converted; ApiError if the cluster's default network cannot be used.
 *
 * @example
 * ```ts
 * const domain = domainFor(vmi, { blockVolumes: ["data"] });
 * expect(domain.devices.disks[0]?.source.dev).toBe("/dev/data");
 * ```
 */
export function domainFor(
  vmi: VirtualMachineInstance,
  environment: Environment = {},
  options?: ConvertOptions,
): Domain {
  const prepared = prepareVmi(vmi, environment);
  return convert(prepared, resolveContext(prepared, environment), options);
}

/** The VMI as the launcher sees it: with its defaults, and with images on its claims. */
export function prepareVmi(
  vmi: VirtualMachineInstance,
  environment: Environment = {},
): VirtualMachineInstance {
  const { config = clusterConfig(), firmwareUUID } = environment;
  try {
    requireShape(vmi);
    const defaulted = defaultVirtualMachineInstance(
      environment.ownedByVM ? withInputDevice(vmi) : vmi,
      config,
      firmwareUUID === undefined ? {} : { uuid: () => firmwareUUID },
    );
    return withHostDisks(defaulted, config.names);
  } catch (error) {
    throw malformedVmi(error, vmi);
  }
}

/** A missing field may be among the defaults; one of the wrong type cannot be read at all. */
function requireShape(vmi: VirtualMachineInstance): void {
  const problem = typeProblem(VirtualMachineInstanceSchema, vmi);
  if (problem) throw malformedAt(problem);
}

/** A VM's controller adds an input device on request if there is none. */
function withInputDevice(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const { devices } = vmi.spec.domain;
  if (!devices?.autoattachInputDevice || (devices.inputs ?? []).length > 0) return vmi;
  // Bus and type are among the defaults.
  const inputs = [{ name: "default-0" } as NonNullable<typeof devices.inputs>[number]];
  const domain = { ...vmi.spec.domain, devices: { ...devices, inputs } };
  return { ...vmi, spec: { ...vmi.spec, domain } };
}
