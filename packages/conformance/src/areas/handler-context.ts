import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isObject } from "@virtkit/api/shape";
import type { NodeStep, StepOutcome } from "@virtkit/node-agent/plan";
import { planPreparation } from "@virtkit/node-agent/prepare";

/** The context of a case: the node and the launcher, and what fails there. */
export interface HandlerContext {
  readonly now: string;
  readonly launcher?: {
    readonly state?: "ready" | "unresponsive" | "starting" | "error";
    readonly connected?: boolean;
    readonly ping?: boolean;
    readonly info?: boolean;
    readonly errors?: Readonly<Record<string, string>>;
    readonly guestInfo?: {
      readonly guestAgentVersion?: string;
      readonly supportedCommands?: readonly { readonly name: string; readonly enabled: boolean }[];
    };
  };
  readonly containerDisks?: {
    readonly ready?: boolean;
    readonly readyError?: boolean;
    readonly mountError?: boolean;
    readonly unmountError?: boolean;
    readonly checksums?: Readonly<Record<string, number>>;
    readonly kernel?: number;
    readonly initrd?: number;
    readonly gone?: boolean;
    readonly checksumError?: boolean;
  };
  readonly hotplug?: {
    readonly mounted?: readonly string[];
    readonly mountError?: "waiting" | "notExist" | "other";
    readonly unmountError?: boolean;
  };
  readonly networkSetup?: "error" | "critical";
  readonly failingHooks?: Readonly<Record<string, boolean>>;
  readonly podInterfaces?: Readonly<Record<string, { readonly podIPs?: readonly string[] }>>;
  readonly files?: Readonly<Record<string, number>>;
  readonly ghostRecordUID?: string;
  readonly vmiOnlyInGlobalCache?: boolean;
  readonly writeUnseen?: boolean;
  readonly vmiUpdate?: "conflict";
  readonly numaCells?: readonly number[];
  readonly missingKvmDevice?: boolean;
  readonly isolationError?: boolean;
  readonly adjustResourcesError?: boolean;
  readonly housekeepingError?: boolean;
  readonly trackerPatchError?: boolean;
  readonly backupTrackers?: readonly unknown[];
}

const done: StepOutcome = { kind: "done" };
const failed: Extract<StepOutcome, { kind: "failed" }> = {
  kind: "failed",
  message: "as the case wants it",
};

/** The calls of a launcher, by KubeVirt's names. */
export const calls: Readonly<Partial<Record<NodeStep["do"], string>>> = {
  sync: "SyncVirtualMachine",
  shutdown: "ShutdownVirtualMachine",
  kill: "KillVirtualMachine",
  delete: "DeleteDomain",
  "memory-dump": "VirtualMachineMemoryDump",
  "hotplug-host-devices": "HotplugHostDevices",
  "guest-info": "GetGuestInfo",
};

/** The result of a step in the world of a case. */
export function outcomeOf(
  step: NodeStep,
  context: HandlerContext,
  vmi: VirtualMachineInstance | undefined,
  config: ClusterConfig,
): StepOutcome {
  const { launcher = {}, hotplug = {}, containerDisks = {} } = context;
  const call = calls[step.do];
  const error = call === undefined ? undefined : launcher.errors?.[call];
  if (error === "disconnected") return { ...failed, cause: "lost" };
  if (error !== undefined) return failed;
  const unless = (isBroken: unknown): StepOutcome => (isBroken ? failed : done);
  switch (step.do) {
    case "guest-info":
      return launcher.connected === false ? failed : { kind: "done", agent: agentOf(launcher) };
    case "hook":
      return unless(context.failingHooks?.[step.hook]);
    case "mount-hotplug":
      if (hotplug.mountError === "waiting") return { kind: "later" };
      if (hotplug.mountError === "notExist") return { ...failed, cause: "missing" };
      return unless(hotplug.mountError);
    case "prepare":
      return prepared(context, vmi, config);
    case "lock-memory":
      return unless(context.adjustResourcesError);
    case "wire-networks":
      return unless(context.networkSetup);
    case "housekeeping":
      return unless(context.housekeepingError);
    case "unmount-hotplug":
      return unless(hotplug.unmountError);
    case "clean-up":
      return unless(hotplug.unmountError || containerDisks.unmountError);
    case "checksums":
      return checksums(containerDisks);
    case "mark-tracker":
      return unless(context.trackerPatchError);
    case "write-status":
      return unless(context.vmiUpdate === "conflict");
    default:
      return done;
  }
}

function agentOf({ guestInfo = {} }: NonNullable<HandlerContext["launcher"]>): object {
  const { guestAgentVersion, supportedCommands = [] } = guestInfo;
  return {
    ...(guestAgentVersion ? { agentVersion: guestAgentVersion } : {}),
    agentCommands: supportedCommands.filter(({ enabled }) => enabled).map(({ name }) => name),
  };
}

function checksums(disks: NonNullable<HandlerContext["containerDisks"]>): StepOutcome {
  if (disks.checksumError) return failed;
  if (disks.gone) return done;
  const { kernel, initrd } = disks;
  return {
    kind: "done",
    checksums: {
      disks: disks.checksums ?? {},
      ...(kernel === undefined ? {} : { kernel }),
      ...(initrd === undefined ? {} : { initrd }),
    },
  };
}

/** What is missing in a case's sandbox, or fails. */
function prepared(
  context: HandlerContext,
  vmi: VirtualMachineInstance | undefined,
  config: ClusterConfig,
): StepOutcome {
  const { launcher = {}, containerDisks = {} } = context;
  if (launcher.info === false) return { kind: "later" };
  if (containerDisks.readyError || containerDisks.mountError) return failed;
  if (containerDisks.ready === false) return { kind: "later", afterSeconds: 1 };
  if (context.networkSetup && (vmi?.spec.networks ?? []).length > 0) {
    return context.networkSetup === "critical" ? { ...failed, isFinal: true } : failed;
  }
  if (context.isolationError || context.adjustResourcesError) return failed;
  return vmi && lacksDevice(context, vmi, config) ? failed : done;
}

/** The stand-in of the recording has the node of every device that a file is named for, and /dev/kvm. */
function lacksDevice(
  { files = {}, missingKvmDevice }: HandlerContext,
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): boolean {
  const named = Object.keys(files).map((path) => [`/${path}`, "char"]);
  const always = ["/dev/vhost-net", "/dev/net/tun"].map((path) => [path, "char"]);
  const hypervisor = missingKvmDevice ? [] : [["/dev/kvm", "char"]];
  const blocks = (vmi.spec.volumes ?? []).map(({ name }) => [`/dev/${name}`, "block"]);
  const images = Object.fromEntries(
    (vmi.spec.volumes ?? []).map(({ name }) => [name, { path: "/disk", format: "raw" }]),
  );
  const entries = Object.fromEntries([...blocks, ...always, ...hypervisor, ...named]);
  const facts = { entries, images, vfio: [], kernelBoot: {}, imageVolumes: false };
  try {
    planPreparation(vmi, { ...facts, selinux: "disabled" } as never, { config });
    return false;
  } catch (error) {
    if (isObject(error) || error instanceof Error) return true;
    throw error;
  }
}
