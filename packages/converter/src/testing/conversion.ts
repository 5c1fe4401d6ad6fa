import type { Devices, DomainSpec, VirtualMachineInstance } from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";
import { convert } from "../convert.ts";
import type { Domain } from "../model/domain.ts";

/** What a test changes in a small VMI. */
export interface Changes {
  readonly architecture?: string;
  readonly annotations?: Record<string, string>;
  /** Parts of `spec.domain`, without the devices. */
  readonly domain?: Partial<DomainSpec>;
  readonly devices?: Devices;
  /** Parts of `spec` other than the domain. */
  readonly spec?: Partial<VirtualMachineInstance["spec"]>;
  readonly status?: VirtualMachineInstance["status"];
  readonly context?: Partial<ConverterContext>;
}

/** A VMI with nothing that is irrelevant to the test. */
export function smallVmi(changes: Changes = {}): VirtualMachineInstance {
  const { architecture = "amd64", annotations, domain, devices = {}, spec, status } = changes;
  return {
    metadata: { name: "vm", namespace: "ns", uid: "u1", ...(annotations ? { annotations } : {}) },
    spec: {
      architecture,
      ...spec,
      domain: { memory: { guest: "1Gi" }, ...domain, devices },
    },
    ...(status ? { status } : {}),
  };
}

/** A context in which that VMI converts. */
export function smallContext({ architecture = "amd64", context }: Changes = {}): ConverterContext {
  return { architecture, hypervisorDeviceAvailable: true, ...context };
}

/** The domain of a small VMI. */
export function domainWith(changes: Changes = {}): Domain {
  return convert(smallVmi(changes), smallContext(changes));
}

/** The path of a small VMI's error; fails if there is none, or one of another kind. */
export function errorPath(changes: Changes): string | undefined {
  try {
    domainWith(changes);
  } catch (error) {
    const { name, path } = error as { name: string; path?: string };
    if (name !== "ConverterError") throw error;
    return path;
  }
  throw new Error("the conversion did not fail");
}
