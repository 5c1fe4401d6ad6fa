import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, objects } from "@virtkit/api/shape";
import type { Write } from "@virtkit/api/status";
import type { Binding } from "@virtkit/network-setup/plan";

/*
 * What KubeVirt does but the packages do not, because it would be wrong in a product. Each is needed to answer
 * recorded cases, and is used nowhere else.
 */

/** KubeVirt reports a failure, though nothing failed, when a start request makes a halted VM Always. */
export function haltedStartQuirk(
  strategy: string,
  writes: readonly Write[],
): { reason: string; message: string } | undefined {
  return strategy === "Halted" && writes.some(({ kind }) => kind === "update")
    ? {
        reason: "FailedCreate",
        message: "spec.runStrategy becomes Always first; the VM starts next",
      }
    : undefined;
}

/** KubeVirt gives the 30 seconds until the next look at outdated VMIs in nanoseconds, and so spins. */
export function spinning(answer: unknown): unknown {
  const requeue = objects(at(answer, "requeue")).map(({ afterSeconds }) => ({
    afterSeconds: Number(afterSeconds) / 1e9,
  }));
  return { ...Object(answer), requeue };
}

/** KubeVirt numbers the bridges among the networks to hand over, not by their position in the spec. */
export function placedAmong(
  vmi: VirtualMachineInstance,
  all: readonly Binding[],
): VirtualMachineInstance {
  const { spec } = vmi;
  const devices = { ...spec.domain.devices, interfaces: all.map(({ iface }) => iface) };
  const networks = all.map(({ network }) => network);
  return { ...vmi, spec: { ...spec, networks, domain: { ...spec.domain, devices } } };
}

/** KubeVirt answers a screenshot that failed in the launcher with 200 and whatever picture came. */
export function ignoresFailure(verb: string): boolean {
  return verb === "screenshot";
}
