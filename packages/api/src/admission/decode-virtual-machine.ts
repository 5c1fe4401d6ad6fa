import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
  type VirtualMachineInstanceSpec,
  VirtualMachineSchema,
} from "../schema/index.ts";
import { type Cause, join } from "./cause.ts";
import { type Decoded, decode, summary } from "./decode.ts";
import {
  closedEnums,
  closedInstanceStatusEnums,
  closedMachineStatusEnums,
  closedVolumeEnums,
} from "./kubernetes-enum.ts";

/** Decodes a VirtualMachineInstance of any shape, as KubeVirt's webhooks do before they judge it. */
export function decodeInstance(object: unknown): Decoded<VirtualMachineInstance> {
  const decoded = decode(VirtualMachineInstanceSchema, object);
  if (!decoded.ok) return decoded;
  const { spec, status } = object as VirtualMachineInstance;
  return closed(decoded, join(closedEnums(spec, "spec"), closedInstanceStatusEnums(status)));
}

/** Decodes a VirtualMachine of any shape, as KubeVirt's webhooks do before they judge it. */
export function decodeMachine(object: unknown): Decoded<VirtualMachine> {
  const decoded = decode(VirtualMachineSchema, object);
  if (!decoded.ok) return decoded;
  const sent = object as VirtualMachine;
  return closed(
    decoded,
    join(
      closedEnums(templateSpec(sent), "spec.template.spec"),
      closedVolumeEnums(decoded.object.spec.dataVolumeTemplates ?? []),
      closedMachineStatusEnums(sent.status),
    ),
  );
}

/** The spec of a VM's template; an empty one if it has none. */
export function templateSpec({ spec }: VirtualMachine): VirtualMachineInstanceSpec {
  return spec.template.spec ?? { domain: { devices: {} } };
}

function closed<T>(decoded: Decoded<T>, causes: readonly Cause[]): Decoded<T> {
  if (causes.length === 0) return decoded;
  return { ok: false, code: 422, causes, message: summary(causes) };
}
