import type {
  DomainHardware,
  DomainState,
  DomainStatus,
  GuestInterface,
  GuestOs,
} from "@virtkit/domain-manager";
import type { NodeDomain } from "@virtkit/node-agent/plan";

type Metadata = NonNullable<NodeDomain["memoryDump"]> & NonNullable<NodeDomain["backup"]>;

/** A domain in the short form of the area `handler`. */
export interface HandlerDomain {
  readonly status: string;
  readonly reason: string;
  readonly uid?: string;
  readonly deleted?: boolean;
  readonly metadata?: {
    readonly accessCredential?: { readonly succeeded?: boolean; readonly message?: string };
    readonly gracePeriod?: {
      readonly deletionGracePeriodSeconds?: number;
      readonly deletionTimestamp?: string;
      readonly markedForGracefulShutdown?: boolean;
    };
    readonly migration?: { readonly startTimestamp?: string; readonly endTimestamp?: string };
    readonly memoryDump?: Metadata;
    readonly backup?: Metadata & { readonly backupMsg?: string };
  };
  readonly acpi?: boolean;
  readonly type?: string;
  readonly machine?: string;
  readonly currentMemory?: { readonly value: number; readonly unit: string };
  readonly disks?: readonly {
    readonly alias: string;
    readonly target: string;
    readonly file?: string;
    readonly dev?: string;
    readonly dataStore?: boolean;
  }[];
  readonly interfaces?: readonly { alias: string; mac: string; queues?: number; link?: string }[];
  readonly hostDevices?: readonly { readonly alias: string }[];
  readonly channels?: readonly { readonly name: string; readonly state: string }[];
  readonly osInfo?: GuestOs;
  readonly guestInterfaces?: readonly { mac?: string; ips?: string[]; interfaceName?: string }[];
  readonly fsFreezeStatus?: string;
}

/** A domain of the short form as the plan of a pass knows it; `uid` is the VMI's. */
export function nodeDomain(domain: HandlerDomain, uid: string): NodeDomain {
  const { disks = [], osInfo: os, fsFreezeStatus: freeze } = domain;
  // A drive without a disk in it is none.
  const loaded = disks.filter(({ file, dev }) => file || dev);
  return {
    name: "default_testvmi",
    vmiUid: domain.uid ?? uid,
    state: (domain.status || "Unset") as Exclude<DomainState, "Absent">,
    reason: domain.reason,
    interfaces: interfacesOf(domain),
    disks: loaded.map(({ alias, target }) => ({ volume: alias, target })),
    trackedVolumes: disks.flatMap(({ alias, dataStore }) => (dataStore ? [alias] : [])),
    hardware: hardwareOf(domain),
    agent: agentOf(domain),
    ...metadataOf(domain),
    ...(os ? { os } : {}),
    ...(freeze ? { fsFreeze: freeze as NonNullable<DomainStatus["fsFreeze"]> } : {}),
  };
}

function metadataOf({ metadata = {} }: HandlerDomain): Partial<NodeDomain> {
  const { accessCredential, gracePeriod, migration, memoryDump, backup } = metadata;
  return {
    ...(accessCredential
      ? {
          accessCredentials: {
            synced: accessCredential.succeeded ?? false,
            message: accessCredential.message ?? "",
          },
        }
      : {}),
    ...(gracePeriod ? { grace: graceOf(gracePeriod) } : {}),
    ...(migration
      ? {
          migration: {
            hasStarted: migration.startTimestamp !== undefined,
            hasEnded: migration.endTimestamp !== undefined,
          },
        }
      : {}),
    ...(memoryDump ? { memoryDump } : {}),
    ...(backup
      ? { backup: { ...backup, ...(backup.backupMsg ? { message: backup.backupMsg } : {}) } }
      : {}),
  };
}

function graceOf({
  deletionGracePeriodSeconds: seconds,
  deletionTimestamp: started,
  markedForGracefulShutdown: isMarked,
}: NonNullable<NonNullable<HandlerDomain["metadata"]>["gracePeriod"]>): NonNullable<
  NodeDomain["grace"]
> {
  return {
    ...(seconds === undefined ? {} : { seconds }),
    ...(started === undefined ? {} : { startedAt: Date.parse(started) }),
    ...(isMarked === undefined ? {} : { isMarked }),
  };
}

function hardwareOf({ type, acpi = false, machine, currentMemory }: HandlerDomain): DomainHardware {
  return {
    emulated: type === "qemu",
    acpi,
    ...(machine ? { machine } : {}),
    ...(currentMemory ? { memory: currentMemory } : {}),
  };
}

function agentOf({ channels = [] }: HandlerDomain): DomainStatus["agent"] {
  const isConnected = channels.some(
    ({ name, state }) => name === "org.qemu.guest_agent.0" && state === "connected",
  );
  return isConnected ? "connected" : "disconnected";
}

/** The domain's, merged with what the guest reports; matched by hardware address. */
function interfacesOf({
  interfaces = [],
  hostDevices = [],
  guestInterfaces = [],
}: HandlerDomain): readonly GuestInterface[] {
  return [
    ...interfaces.map(({ alias, mac, queues, link }) => ({
      ...{ name: alias, mac, ips: [], queueCount: queues ?? 1 },
      ...(link ? { linkState: link } : {}),
    })),
    ...hostDevices.flatMap(({ alias }) =>
      alias.startsWith("sriov-") ? [{ name: alias.slice("sriov-".length), mac: "", ips: [] }] : [],
    ),
    ...guestInterfaces.map(({ mac = "", ips = [], interfaceName }) => ({
      ...{ mac, ips },
      ...(interfaceName ? { interfaceName } : {}),
    })),
  ];
}
