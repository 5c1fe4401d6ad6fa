import { isIP } from "node:net";
import type { GuestFileSystem, GuestUser } from "../manager/guest-control.ts";
import type { GuestInterface, GuestOs } from "../status/domain-status.ts";
import type { AgentReply } from "./agent-reply.ts";

/** Limits for what a guest reports; the rest of a longer list or string is dropped. */
export const agentLimits = {
  /** Characters of a name, a version, an address. */
  text: 256,
  /** Characters of a path: as many as Linux allows. */
  path: 4096,
  interfaces: 256,
  addresses: 64,
  fileSystems: 256,
  disks: 64,
  users: 1024,
  commands: 512,
} as const;

/** The guest's time zone. */
export interface GuestTimezone {
  readonly zone: string;
  /** Seconds east of UTC. */
  readonly offset: number;
}

/** Which agent it is, and what it can be asked. */
export interface AgentInfo {
  readonly version: string;
  readonly commands: readonly { readonly name: string; readonly enabled: boolean }[];
}

/** `guest-get-osinfo`. What the guest does not know is absent. */
export function readOs(reply: AgentReply): GuestOs {
  const fields = {
    id: "id",
    name: "name",
    prettyName: "pretty-name",
    version: "version",
    versionId: "version-id",
    kernelRelease: "kernel-release",
    kernelVersion: "kernel-version",
    machine: "machine",
  } as const satisfies Record<keyof GuestOs, string>;
  const os: Partial<Record<keyof GuestOs, string>> = {};
  for (const [key, field] of Object.entries(fields) as [keyof GuestOs, string][]) {
    const value = reply.field(field).optionalText(agentLimits.text);
    if (value !== undefined) os[key] = value;
  }
  return os;
}

/** `guest-get-host-name`. */
export function readHostname(reply: AgentReply): string {
  return reply.field("host-name").text(agentLimits.text);
}

/** `guest-get-timezone`. */
export function readTimezone(reply: AgentReply): GuestTimezone {
  return {
    zone: reply.field("zone").optionalText(agentLimits.text) ?? "",
    offset: reply.field("offset").number(),
  };
}

/**
 * `guest-network-get-interfaces`, without the loopback. IPv4 addresses come first, because the
 * first address represents all; invalid addresses are dropped.
 */
export function readInterfaces(reply: AgentReply): GuestInterface[] {
  return reply
    .list(agentLimits.interfaces, (entry) => ({
      interfaceName: entry.field("name").text(agentLimits.text),
      mac: entry.field("hardware-address").optionalText(agentLimits.text) ?? "",
      ips: readAddresses(entry.field("ip-addresses")),
    }))
    .filter(({ interfaceName }) => interfaceName !== "lo");
}

function readAddresses(reply: AgentReply): string[] {
  const addresses = reply
    .list(agentLimits.addresses, (entry) => entry.field("ip-address").text(agentLimits.text))
    .filter((address) => isIP(address) !== 0);
  return [
    ...addresses.filter((address) => isIP(address) === 4),
    ...addresses.filter((address) => isIP(address) === 6),
  ];
}

/** `guest-get-fsinfo`. */
export function readFileSystems(reply: AgentReply): GuestFileSystem[] {
  return reply.list(agentLimits.fileSystems, (entry) => ({
    diskName: entry.field("name").text(agentLimits.text),
    mountPoint: entry.field("mountpoint").text(agentLimits.path),
    fileSystemType: entry.field("type").text(agentLimits.text),
    usedBytes: optionalCount(entry.field("used-bytes")),
    totalBytes: optionalCount(entry.field("total-bytes")),
    disks: entry.field("disk").list(agentLimits.disks, (disk) => {
      const serial = disk.field("serial").optionalText(agentLimits.text);
      const busType = disk.field("bus-type").text(agentLimits.text);
      return serial === undefined ? { busType } : { serial, busType };
    }),
  }));
}

/** Older agents do not report it, nor do those of Windows before 5.0. */
function optionalCount(reply: AgentReply): number {
  return reply.absent ? 0 : reply.whole();
}

/** `guest-get-users`. */
export function readUsers(reply: AgentReply): GuestUser[] {
  return reply.list(agentLimits.users, (entry) => {
    const userName = entry.field("user").text(agentLimits.text);
    const domain = entry.field("domain").optionalText(agentLimits.text);
    const loginTime = entry.field("login-time").count();
    return { userName, ...(domain === undefined ? {} : { domain }), loginTime };
  });
}

/** `guest-info`. */
export function readAgentInfo(reply: AgentReply): AgentInfo {
  return {
    version: reply.field("version").optionalText(agentLimits.text) ?? "",
    commands: reply.field("supported_commands").list(agentLimits.commands, (entry) => ({
      name: entry.field("name").text(agentLimits.text),
      enabled: entry.field("enabled").flag(),
    })),
  };
}

/** `guest-fsfreeze-status`. */
export function readFsFreeze(reply: AgentReply): "frozen" | "thawed" {
  return reply.oneOf("frozen", "thawed");
}
