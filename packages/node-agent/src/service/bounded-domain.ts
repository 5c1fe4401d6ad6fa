import type {
  DomainHardware,
  DomainStatus,
  GuestInterface,
  GuestOs,
  PendingChange,
  ProbeStatus,
} from "@virtkit/domain-manager";
import { cutText } from "../cut-text.ts";

/** Limits on what a guest, or a hostile launcher, may bring into the agent and into the status of a VMI. */
const most = {
  ...{ interfaces: 64, ips: 32, disks: 512, commands: 512, pending: 64 },
  ...{ text: 256, sentence: 1_024, address: 64 },
} as const;

function cut(text: string, length: number = most.text): string {
  return cutText(text, length);
}

/** Without fields that are not there. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  const found = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as Present<T>;
}

/** The texts of an object, under these keys, truncated. */
function texts<T extends object, K extends keyof T & string>(
  found: T,
  keys: readonly K[],
): { [key in K]?: string } {
  const own = keys.flatMap((key) => {
    const value: unknown = found[key];
    return typeof value === "string" ? [[key, cut(value)] as const] : [];
  });
  return Object.fromEntries(own) as { [key in K]?: string };
}

/**
 * A status with every part bounded, so that it fits into an API object and costs the agent little: excess items and
 * unknown fields, which a launcher can make as large as a message, are left out, and long values are truncated.
 */
export function boundedDomain(status: DomainStatus): DomainStatus {
  const { state, agent, hardware, os, fsFreeze, agentCommands, accessCredentials } = status;
  const { pending, probes, signalled, end } = status;
  return {
    ...{ name: status.name, state, reason: cut(status.reason), agent },
    interfaces: status.interfaces.slice(0, most.interfaces).map(boundedInterface),
    disks: status.disks
      .slice(0, most.disks)
      .map(({ volume, target }) => ({ volume: cut(volume), target: cut(target) })),
    ...texts(status, ["uuid", "hostname", "timezone", "agentVersion", "shutdownRequestedAt"]),
    ...present({
      ...{ fsFreeze, signalled },
      hardware: hardware && boundedHardware(hardware),
      os: os && boundedOs(os),
      agentCommands: agentCommands?.slice(0, most.commands).map((each) => cut(each)),
      accessCredentials: accessCredentials && {
        ...{ synced: accessCredentials.synced, message: cut(accessCredentials.message ?? "") },
      },
      pending: pending && boundedPending(pending),
      probes:
        probes &&
        present({
          readiness: probes.readiness && boundedProbe(probes.readiness),
          liveness: probes.liveness && boundedProbe(probes.liveness),
        }),
      end: end && { kind: end.kind, message: cut(end.message, most.sentence), at: cut(end.at) },
    }),
  };
}

function boundedInterface(found: GuestInterface): GuestInterface {
  const { mac, ips, queueCount } = found;
  return {
    ...texts(found, ["name", "interfaceName", "linkState"]),
    ...present({ queueCount }),
    ...{ mac: cut(mac), ips: ips.slice(0, most.ips).map((ip) => cut(ip, most.address)) },
  };
}

function boundedHardware(hardware: DomainHardware): DomainHardware {
  const { emulated, acpi, memory } = hardware;
  return {
    ...texts(hardware, ["machine"]),
    ...present({ memory: memory && { value: memory.value, unit: cut(memory.unit) } }),
    ...{ emulated, acpi },
  };
}

function boundedOs(os: GuestOs): GuestOs {
  return texts(os, [
    ...(["id", "name", "prettyName", "version", "versionId"] as const),
    ...(["kernelRelease", "kernelVersion", "machine"] as const),
  ]);
}

/** The channel passes these on unread: they may be anything. */
function boundedPending(pending: unknown): readonly PendingChange[] {
  const effects: readonly unknown[] = ["needs-migration", "needs-restart", "retry"];
  const changes: readonly unknown[] = Array.isArray(pending) ? pending.slice(0, most.pending) : [];
  return changes.flatMap((change) => {
    const { effect, summary, reason } = Object(change) as Partial<PendingChange>;
    if (!effects.includes(effect)) return [];
    return [{ summary: "", ...texts({ summary, reason }, ["summary", "reason"]), effect }];
  }) as readonly PendingChange[];
}

function boundedProbe(probe: ProbeStatus): ProbeStatus {
  return { state: probe.state, ...texts(probe, ["message"]) };
}
