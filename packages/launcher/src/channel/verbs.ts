import { type GuestControl, MayRun, type SyncRequest } from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import { type Check, fields, flag, list, record, text, whole } from "./check.ts";
import { checkGrant } from "./guest-checks.ts";
import type { LauncherInfo } from "./launcher-info.ts";

/** What a verb answers. */
export interface VerbResult {
  readonly result?: unknown;
  readonly attachment?: Uint8Array;
}

/** What the verbs act on. */
export interface VerbTarget {
  readonly control: GuestControl;
  info(): LauncherInfo;
}

/** A verb with one answer. */
export type VerbName = Exclude<keyof GuestControl, "events"> | "ping" | "info";

/** One verb of the channel. */
export interface Verb {
  /** What KubeVirt's launcher calls it, for people who look for that. */
  readonly kubevirt: string;
  /** Milliseconds that a caller waits who says nothing else. KubeVirt's, where it has the verb. */
  readonly timeout: number;
  /** Checks the arguments, then carries it out. */
  run(target: VerbTarget, args: unknown, options: CallOptions): Promise<VerbResult>;
}

const [short, long, freezing] = [5_000, 20_000, 60_000];
const nothing: Check<unknown> = () => undefined;
const day = 24 * 60 * 60;

function verb<T>(
  kubevirt: string,
  timeout: number,
  check: Check<T>,
  run: (target: VerbTarget, args: T, options: CallOptions) => Promise<VerbResult>,
): Verb {
  return {
    kubevirt,
    timeout,
    run: async (target, args, options) => await run(target, check(args ?? {}, "args"), options),
  };
}

/** A verb that takes nothing and answers nothing. */
function plain(
  kubevirt: string,
  timeout: number,
  run: (control: GuestControl, options: CallOptions) => Promise<void>,
): Verb {
  return verb(kubevirt, timeout, nothing, async ({ control }, _, options) => {
    await run(control, options);
    return {};
  });
}

/** A verb that takes nothing. */
function question(
  kubevirt: string,
  timeout: number,
  run: (control: GuestControl, options: CallOptions) => Promise<unknown>,
): Verb {
  return verb(kubevirt, timeout, nothing, async ({ control }, _, options) => ({
    result: await run(control, options),
  }));
}

// The converter checks what is in them; here it only matters that they are objects of this guest.
const checkSync = fields(
  {
    vmi: record as unknown as Check<SyncRequest["vmi"]>,
    context: record as unknown as Check<SyncRequest["context"]>,
    mayRun: checkGrant,
  },
  { pod: record as Check<NonNullable<SyncRequest["pod"]>>, podFits: flag },
);

const checkExec = fields(
  { command: text(65_536) },
  { args: list(text(65_536), 4_096), timeoutSeconds: whole(0, day) },
);

/** The verbs of version 1, but for `events`, which is a stream. */
export const verbs: Readonly<Record<VerbName, Verb>> = {
  ping: verb("Ping", short, nothing, async () => ({})),
  info: verb("CmdInfo.Info", short, nothing, async ({ info }) => ({ result: info() })),
  syncVmi: verb(
    "SyncVirtualMachine, SyncVirtualMachineCPUs, SyncVirtualMachineMemory, HotplugHostDevices",
    // KubeVirt gives it 20 s and prepares disks before; here the disks are part of it.
    120_000,
    checkSync,
    async ({ control }, { mayRun, ...rest }, options) => ({
      result: await control.syncVmi({ ...rest, mayRun: MayRun.fromAgent(mayRun) }, options),
    }),
  ),
  pause: plain("PauseVirtualMachine", long, (control, options) => control.pause(options)),
  unpause: verb(
    "UnpauseVirtualMachine",
    long,
    fields({ mayRun: checkGrant }),
    async ({ control }, { mayRun }, options) => {
      await control.unpause(MayRun.fromAgent(mayRun), options);
      return {};
    },
  ),
  shutdown: plain("ShutdownVirtualMachine", long, (control, options) => control.shutdown(options)),
  kill: plain("KillVirtualMachine", long, (control, options) => control.kill(options)),
  delete: plain("DeleteVirtualMachine", long, (control, options) => control.delete(options)),
  softReboot: plain("SoftRebootVirtualMachine", long, (control, options) =>
    control.softReboot(options),
  ),
  reset: plain("ResetVirtualMachine", long, (control, options) => control.reset(options)),
  freeze: verb(
    "FreezeVirtualMachine",
    freezing,
    fields({ unfreezeAfterSeconds: whole(0, day) }),
    async ({ control }, request, options) => {
      await control.freeze(request, options);
      return {};
    },
  ),
  unfreeze: plain("UnfreezeVirtualMachine", freezing, (control, options) =>
    control.unfreeze(options),
  ),
  exec: verb("Exec", long, checkExec, async ({ control }, request, options) => ({
    result: await control.exec(request, options),
  })),
  guestPing: verb(
    "GuestPing",
    long,
    fields({ timeoutSeconds: whole(0, day) }),
    async ({ control }, request, options) => {
      await control.guestPing(request, options);
      return {};
    },
  ),
  users: question("GetUsers", short, (control, options) => control.users(options)),
  fileSystems: question("GetFilesystems", short, (control, options) =>
    control.fileSystems(options),
  ),
  stats: question("GetDomainStats, GetVMStats", short, (control, options) =>
    control.stats(options),
  ),
  screenshot: verb("GetScreenshot", long, nothing, async ({ control }, _, options) => {
    const { mime, data } = await control.screenshot(options);
    return { result: { mime }, attachment: data };
  }),
  memoryDump: verb(
    "VirtualMachineMemoryDump",
    600_000,
    fields({ path: text(4_096) }),
    async ({ control }, request, options) => {
      await control.memoryDump(request, options);
      return {};
    },
  ),
  status: question("GetDomain, GetGuestInfo", short, (control, options) => control.status(options)),
};

/** The verb with this name; undefined where there is none. */
export function findVerb(name: string): Verb | undefined {
  return Object.hasOwn(verbs, name) ? verbs[name as VerbName] : undefined;
}
