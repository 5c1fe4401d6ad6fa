import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceStatus } from "@virtkit/api/schema";
import type {
  DomainHardware,
  DomainState,
  DomainStatus,
  GuestInterface,
  GuestOs,
} from "@virtkit/domain-manager";
import { type SyncFailure, vmiStatusFrom } from "@virtkit/node-agent/status";
import { mergePatch } from "./merge-patch.ts";

/** A domain in the short form of the area `handler`. */
export interface HandlerDomain {
  readonly status: string;
  readonly reason: string;
  readonly uid?: string;
  readonly deleted?: boolean;
  readonly metadata?: { readonly accessCredential?: { succeeded?: boolean; message?: string } };
  readonly acpi?: boolean;
  readonly type?: string;
  readonly machine?: string;
  readonly currentMemory?: { readonly value: number; readonly unit: string };
  readonly disks?: readonly { readonly alias: string; readonly target: string }[];
  readonly interfaces?: readonly { alias: string; mac: string; queues?: number; link?: string }[];
  readonly hostDevices?: readonly { readonly alias: string }[];
  readonly channels?: readonly { readonly name: string; readonly state: string }[];
  readonly osInfo?: GuestOs;
  readonly guestInterfaces?: readonly { mac?: string; ips?: string[]; interfaceName?: string }[];
  readonly fsFreezeStatus?: string;
}

/** The context of a case, as far as a status follows from it. */
export interface HandlerContext {
  readonly now: string;
  readonly configuration: object;
  readonly launcher?: {
    readonly state?: string;
    readonly guestInfo?: {
      readonly guestAgentVersion?: string;
      readonly supportedCommands?: readonly { readonly name: string; readonly enabled: boolean }[];
    };
  };
  readonly podInterfaces?: Readonly<Record<string, { readonly podIPs?: readonly string[] }>>;
  readonly hotplug?: { readonly mounted?: readonly string[] };
}

/** One pass: the VMI and its domain. */
export interface HandlerPass {
  readonly vmi?: VirtualMachineInstance;
  /** A merge patch of the VMI as the last pass left it. */
  readonly vmiPatch?: object;
  readonly domain?: HandlerDomain | null;
  /** The clock goes on by this before the pass. */
  readonly advanceSeconds?: number;
}

/** The input of a case: one pass, or several. */
export type HandlerInput = HandlerPass & { readonly steps?: readonly HandlerPass[] };

/** The status that the VMI has after each pass, as far as it follows from the domain; `failure` is the pass's. */
export function statusesAfter(
  { steps, ...only }: HandlerInput,
  context: HandlerContext,
  failure?: SyncFailure,
): readonly VirtualMachineInstanceStatus[] {
  let vmi: VirtualMachineInstance | undefined;
  let now = Date.parse(context.now);
  return (steps ?? [only]).map((pass) => {
    now += (pass.advanceSeconds ?? 0) * 1000;
    const known =
      pass.vmi ?? (mergePatch(vmi, pass.vmiPatch) as VirtualMachineInstance | undefined);
    if (!known) throw new Error("there is no VMI that could have a status");
    const at = `${new Date(now).toISOString().slice(0, 19)}Z`;
    const status = statusAfter(known, pass.domain, { ...context, now: at }, failure);
    vmi = { ...known, status };
    return status;
  });
}

function statusAfter(
  vmi: VirtualMachineInstance,
  domain: HandlerDomain | null | undefined,
  context: HandlerContext,
  failure: SyncFailure | undefined,
): VirtualMachineInstanceStatus {
  const pods = Object.entries(context.podInterfaces ?? {});
  return vmiStatusFrom(domainStatus(domain, context), vmi, {
    config: clusterConfig(context.configuration),
    now: context.now,
    failure,
    hostArchitecture: "amd64",
    launcherIsLost: context.launcher?.state === "unresponsive",
    podIps: Object.fromEntries(pods.map(([name, { podIPs = [] }]) => [name, podIPs])),
    mountedVolumes: context.hotplug?.mounted ?? [],
  });
}

/** A domain of the short form as a launcher tells it. */
function domainStatus(
  domain: HandlerDomain | null | undefined,
  context: HandlerContext,
): DomainStatus {
  const name = "default_testvmi";
  const nothing = { name, agent: "disconnected", interfaces: [], disks: [] } as const;
  // One that the cache marks as gone is gone.
  if (!domain || domain.deleted) return { ...nothing, state: "Absent", reason: "NonExistent" };
  return {
    name,
    state: (domain.status || "NoState") as DomainState,
    reason: domain.reason,
    interfaces: interfacesOf(domain),
    disks: (domain.disks ?? []).map(({ alias, target }) => ({ volume: alias, target })),
    hardware: hardwareOf(domain),
    ...agentOf(domain, context),
    ...credentialsOf(domain),
    ...(domain.osInfo ? { os: domain.osInfo } : {}),
    ...(domain.fsFreezeStatus
      ? { fsFreeze: domain.fsFreezeStatus as NonNullable<DomainStatus["fsFreeze"]> }
      : {}),
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

function agentOf(
  { channels = [] }: HandlerDomain,
  { launcher }: HandlerContext,
): Pick<DomainStatus, "agent" | "agentVersion" | "agentCommands"> {
  const { guestAgentVersion, supportedCommands = [] } = launcher?.guestInfo ?? {};
  const isConnected = channels.some(
    ({ name, state }) => name === "org.qemu.guest_agent.0" && state === "connected",
  );
  return {
    agent: isConnected ? "connected" : "disconnected",
    ...(guestAgentVersion ? { agentVersion: guestAgentVersion } : {}),
    agentCommands: supportedCommands.filter(({ enabled }) => enabled).map(({ name }) => name),
  };
}

function credentialsOf({ metadata }: HandlerDomain): Pick<DomainStatus, "accessCredentials"> {
  const { accessCredential: found } = metadata ?? {};
  if (!found) return {};
  return {
    accessCredentials: { synced: found.succeeded ?? false, message: found.message ?? "" },
  };
}

/** The domain's, then what the guest says of them and of its own: they are matched by hardware address. */
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
