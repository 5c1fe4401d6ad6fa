import { resourceAmount } from "../resource-amount.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import {
  type Cause,
  each,
  fine,
  invalid,
  join,
  notSupported,
  oneOf,
  quote,
  required,
} from "./cause.ts";

/** A CPU request must not be negative. */
export function cpuRequest(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  return notNegative(spec, at, "requests");
}

/** A CPU limit must not be negative. */
export function cpuLimit(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  return notNegative(spec, at, "limits");
}

function notNegative(
  spec: VirtualMachineInstanceSpec,
  at: string,
  list: "requests" | "limits",
): readonly Cause[] {
  const amount = resourceAmount(spec.domain.resources, list, "cpu");
  if (amount.sign() >= 0) return fine;
  return invalid(`${at}.domain.resources.${list}.cpu`, `is ${amount}; it must not be negative`);
}

/** A CPU limit must not be below the request. */
export function cpuRequestWithinLimit(
  spec: VirtualMachineInstanceSpec,
  at: string,
): readonly Cause[] {
  const limit = resourceAmount(spec.domain.resources, "limits", "cpu");
  const requested = resourceAmount(spec.domain.resources, "requests", "cpu");
  if (limit.milliValue() <= 0n || requested.milliValue() <= limit.milliValue()) return fine;
  return invalid(
    `${at}.domain.resources.requests.cpu`,
    `is ${requested}, more than limits.cpu ${limit}; lower the request or raise the limit`,
  );
}

/** NUMA passthrough pins guest nodes to host nodes, which needs dedicated CPUs and hugepages. */
export function numaPassthrough(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { cpu, memory } = spec.domain;
  if (!cpu?.numa?.guestMappingPassthrough) return fine;
  const field = `${at}.domain.cpu.numa.guestMappingPassthrough`;
  return join(
    cpu.dedicatedCpuPlacement
      ? fine
      : invalid(field, "needs dedicated CPUs; set cpu.dedicatedCpuPlacement to true"),
    memory?.hugepages ? fine : invalid(field, "needs hugepages; set memory.hugepages.pageSize"),
  );
}

/** A separate CPU for the emulator needs dedicated CPUs. */
export function isolatedEmulatorThread(
  spec: VirtualMachineInstanceSpec,
  at: string,
): readonly Cause[] {
  const cpu = spec.domain.cpu;
  if (!cpu?.isolateEmulatorThread || cpu.dedicatedCpuPlacement) return fine;
  return invalid(
    `${at}.domain.cpu.isolateEmulatorThread`,
    "is true, but the CPUs are not dedicated; set cpu.dedicatedCpuPlacement to true, or remove it",
  );
}

const featurePolicies: ReadonlySet<string> = new Set([
  "",
  "force",
  "require",
  "optional",
  "disable",
  "forbid",
]);

/** The policy of a CPU feature must be one of libvirt's. */
export function cpuFeaturePolicies(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const features = spec.domain.cpu?.features;
  if (!features?.length) return fine;
  return each(features, ({ name, policy }, i) =>
    featurePolicies.has(policy ?? "")
      ? fine
      : notSupported(
          `${at}.domain.cpu.features[${i}].policy`,
          `is ${quote(policy)} for the feature ${quote(name)}; use ${oneOf(featurePolicies)}`,
        ),
  );
}

/** The guest must not start with more sockets than its maximum. */
export function socketsWithinMaximum(
  spec: VirtualMachineInstanceSpec,
  at: string,
): readonly Cause[] {
  const { sockets = 0, maxSockets = 0 } = spec.domain.cpu ?? {};
  if (maxSockets === 0 || sockets <= maxSockets) return fine;
  return invalid(
    `${at}.domain.cpu.sockets`,
    `is ${sockets}, more than cpu.maxSockets ${maxSockets}; lower it or raise the maximum`,
  );
}

/** Realtime guests need dedicated CPUs and the host's NUMA layout. */
export function realtime(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const cpu = spec.domain.cpu;
  if (!cpu?.realtime) return fine;
  return join(
    cpu.dedicatedCpuPlacement
      ? fine
      : required(`${at}.domain.cpu.dedicatedCpuPlacement`, "must be true when cpu.realtime is set"),
    cpu.numa?.guestMappingPassthrough
      ? fine
      : required(
          `${at}.domain.cpu.numa.guestMappingPassthrough`,
          "must be set when cpu.realtime is set",
        ),
  );
}
