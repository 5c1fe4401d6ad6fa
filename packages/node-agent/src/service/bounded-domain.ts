import type { DomainStatus, GuestInterface, GuestOs } from "@virtkit/domain-manager";

/** Limits on what a guest, or a hostile launcher, may bring into the status of a VMI. */
const most = { interfaces: 64, ips: 32, disks: 512, text: 256, commands: 512 } as const;

function cut(text: string): string {
  return text.length <= most.text ? text : text.slice(0, most.text);
}

/**
 * A status with every part bounded, so that it fits into an API object: excess items are left out, and long values
 * are truncated.
 */
export function boundedDomain(status: DomainStatus): DomainStatus {
  const { os, accessCredentials, agentCommands, agentVersion, fsFreeze: _, ...rest } = status;
  return {
    ...rest,
    reason: cut(status.reason),
    interfaces: status.interfaces.slice(0, most.interfaces).map(boundedInterface),
    disks: status.disks
      .slice(0, most.disks)
      .map(({ volume, target }) => ({ volume: cut(volume), target: cut(target) })),
    ...(os ? { os: boundedOs(os) } : {}),
    ...(agentVersion === undefined ? {} : { agentVersion: cut(agentVersion) }),
    ...(agentCommands ? { agentCommands: agentCommands.slice(0, most.commands).map(cut) } : {}),
    ...(status.fsFreeze ? { fsFreeze: status.fsFreeze } : {}),
    ...(accessCredentials
      ? {
          accessCredentials: {
            synced: accessCredentials.synced,
            message: cut(accessCredentials.message ?? ""),
          },
        }
      : {}),
  };
}

function boundedInterface(found: GuestInterface): GuestInterface {
  const { name, interfaceName, linkState } = found;
  return {
    ...found,
    ...(name === undefined ? {} : { name: cut(name) }),
    ...(interfaceName === undefined ? {} : { interfaceName: cut(interfaceName) }),
    ...(linkState === undefined ? {} : { linkState: cut(linkState) }),
    mac: cut(found.mac),
    ips: found.ips.slice(0, most.ips).map(cut),
  };
}

function boundedOs(os: GuestOs): GuestOs {
  return Object.fromEntries(
    Object.entries(os).map(([key, value]) => [key, typeof value === "string" ? cut(value) : value]),
  );
}
