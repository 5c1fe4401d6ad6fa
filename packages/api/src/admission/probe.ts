import type { Probe, VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, countSet, each, fine, invalid, required } from "./cause.ts";

const probes = ["readinessProbe", "livenessProbe"] as const;

/** A probe does exactly one thing. */
export function probeHandlers(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  return each(probes, (name) => oneHandler(spec[name], `${at}.${name}`));
}

/** HTTP and TCP probes reach the guest over the Pod network. */
export function probeNetwork(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  if (spec.networks?.some((network) => network.pod)) return fine;
  return each(probes, (name) => needsPodNetwork(spec[name], `${at}.${name}`));
}

function oneHandler(probe: Probe | undefined, field: string): readonly Cause[] {
  if (!probe) return fine;
  const handlers = countSet(probe.httpGet, probe.tcpSocket, probe.exec, probe.guestAgentPing);
  if (handlers === 1) return fine;
  if (handlers === 0) {
    return required(field, "does nothing; set one of httpGet, tcpSocket, exec, guestAgentPing");
  }
  return invalid(field, `has ${handlers} of httpGet, tcpSocket, exec, guestAgentPing; keep one`);
}

function needsPodNetwork(probe: Probe | undefined, field: string): readonly Cause[] {
  if (!probe) return fine;
  return (["httpGet", "tcpSocket"] as const)
    .filter((handler) => probe[handler])
    .flatMap((handler) =>
      invalid(
        `${field}.${handler}`,
        "needs the Pod network, which the VMI does not have; add a network with `pod: {}`, or use exec or guestAgentPing",
      ),
    );
}
