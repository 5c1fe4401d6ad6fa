import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { removeCondition, setCondition, withPhase } from "@virtkit/api/status";
import type { DomainStatus } from "@virtkit/domain-manager";
import { sameJson } from "../api-server/json.ts";
import type { SimulatedLauncher } from "./simulated-launcher.ts";

type VmiStatus = NonNullable<VirtualMachineInstance["status"]>;
type Conditions = NonNullable<VmiStatus["conditions"]>;

/** The status of a VMI whose guest exists; the same object that was passed in if nothing has changed. */
export function runningStatus(
  before: VmiStatus,
  domain: DomainStatus | undefined,
  now: string,
): VmiStatus {
  if (!domain) return before;
  const phased = withPhase(before, "Running", now);
  const status = {
    ...phased,
    conditions: conditionsFrom(phased.conditions ?? [], domain, now),
    ...(domain.os ? { guestOSInfo: domain.os } : {}),
    interfaces: interfacesFrom(phased.interfaces ?? [], domain),
  } as VmiStatus;
  return sameJson(status, before) ? before : status;
}

/** What the guest has; what controllers have written about it is kept. */
function interfacesFrom(
  before: NonNullable<VmiStatus["interfaces"]>,
  { interfaces }: DomainStatus,
): NonNullable<VmiStatus["interfaces"]> {
  return interfaces.map(({ name, mac, ips, linkState }) => {
    const known = before.find((each) => each.name === name) ?? {};
    const { ipAddress: _, ipAddresses: __, infoSource: ___, ...kept } = known;
    return {
      ...kept,
      ...(name ? { name } : {}),
      mac,
      ...(ips.length > 0 ? { ipAddress: ips[0], ipAddresses: [...ips] } : {}),
      ...(linkState ? { linkState } : {}),
      infoSource: ips.length > 0 ? "domain, guest-agent" : "domain",
    };
  });
}

/** The status of a VMI whose launcher has ended. */
export function endedStatus(
  before: VmiStatus,
  launcher: SimulatedLauncher,
  now: string,
): VmiStatus {
  const { state, reason } = launcher.status ?? {};
  const isGood = state === "Shutoff" && reason === "Shutdown";
  return withPhase(before, isGood ? "Succeeded" : "Failed", now);
}

function conditionsFrom(before: Conditions, domain: DomainStatus, now: string): Conditions {
  const { state, reason, agent } = domain;
  const pausedBy = reason === "IOError" ? "PausedIOError" : "PausedByUser";
  const paused = holding(before, "Paused", state === "Paused" ? pausedBy : undefined, now);
  return holding(paused, "AgentConnected", agent === "connected" ? "" : undefined, now);
}

/** A condition that is there while it holds. */
function holding(
  before: Conditions,
  type: string,
  reason: string | undefined,
  now: string,
): Conditions {
  if (reason === undefined) return [...removeCondition(before, type)];
  const times = { lastProbeTime: now, lastTransitionTime: now };
  return [
    ...setCondition(before, { type, status: "True", ...(reason ? { reason } : {}), ...times }),
  ];
}
