import { type GuestControl, MayRun, type SyncRequest } from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import {
  checkCancel,
  checkDecision,
  checkFollow,
  checkGrantNote,
  checkIdentified,
  checkMeasure,
  checkMeasured,
  checkMigrate,
  checkNamed,
  checkReceive,
  checkReport,
} from "../migration/migration-checks.ts";
import type { MigrationVerbs } from "../migration/migration-verbs.ts";
import { type Check, fields, flag, list, record, text, whole } from "./check.ts";
import {
  checkExecResult,
  checkFileSystems,
  checkGrant,
  checkStats,
  checkStatus,
  checkUsers,
} from "./guest-checks.ts";
import { checkInfo, type LauncherInfo } from "./launcher-info.ts";
import { migrationsOf, type Verb, type VerbTarget } from "./verb.ts";

/** The verbs with one answer: those of a guest's control, and questions to the launcher itself. */
export interface LauncherVerbs extends Omit<GuestControl, "events">, MigrationVerbs {
  /** Resolves when the launcher answers. */
  ping(options?: CallOptions): Promise<void>;
  /** What the launcher says of itself. */
  info(options?: CallOptions): Promise<LauncherInfo>;
}

/** A verb with one answer. */
export type VerbName = keyof LauncherVerbs;

type ArgsOf<K extends VerbName> =
  Parameters<LauncherVerbs[K]> extends [(CallOptions | undefined)?]
    ? undefined
    : Parameters<LauncherVerbs[K]>[0];
type ResultOf<K extends VerbName> = Awaited<ReturnType<LauncherVerbs[K]>>;

/** The fields that an entry needs, by the verb's signature. */
type Needed<K extends VerbName> =
  | (ArgsOf<K> extends undefined ? never : "args")
  | (ResultOf<K> extends void ? never : "result")
  | (K extends keyof GuestControl ? never : "run");

type Entry<K extends VerbName, V = Verb<ArgsOf<K>, ResultOf<K>>> = V &
  Required<Pick<V, Needed<K> & keyof V>>;

/** The table of all verbs; a missing one, or one with another's checks, does not compile. */
export type VerbTable = { readonly [K in VerbName]: Entry<K> };

/** What a client can call by a table of verbs. */
export type MethodsOf<Table> = Pick<LauncherVerbs, keyof Table & VerbName>;

const [short, long, freezing] = [5_000, 20_000, 60_000];
const day = 24 * 60 * 60;

/** The guest agent's time, plus some for the round trip. */
const agentTimeout = ({ timeoutSeconds }: { readonly timeoutSeconds?: number }): number =>
  timeoutSeconds === undefined ? long : timeoutSeconds * 1_000 + 5_000;

/** A followed migration may have no news during a long copy; then the caller asks again. */
const following = 60_000;
/** A measurement takes up to a minute, and so may a guest that has to release a device. */
const lengthy = 80_000;

/** Carried out by what the launcher has for migrations. */
function moving<K extends keyof MigrationVerbs>(name: K): NonNullable<Entry<K>["run"]> {
  return async (target: VerbTarget, args: unknown, options: CallOptions) => {
    const migrations = migrationsOf(target);
    return await Reflect.apply(migrations[name], migrations, [args, options]);
  };
}

const checkMayRun: Check<MayRun> = (sent, path) => MayRun.fromAgent(checkGrant(sent, path));

/**
 * The verbs of version 1, but for `events`, which is a stream. A verb is a method of `GuestControl` and an
 * entry here: the launcher, its client and the README's table come from it.
 */
export const verbs: VerbTable = {
  ping: { kubevirt: "Ping", timeout: short, run: async () => {} },
  info: {
    kubevirt: "CmdInfo.Info",
    timeout: short,
    result: checkInfo,
    run: async ({ info }) => info(),
  },
  syncVmi: {
    kubevirt:
      "SyncVirtualMachine, SyncVirtualMachineCPUs, SyncVirtualMachineMemory, HotplugHostDevices",
    // KubeVirt gives it 20 s and prepares disks before; here the disks are part of it.
    timeout: 120_000,
    // The converter checks what is in them; here it only matters that they are objects of this guest.
    args: fields(
      {
        vmi: record as unknown as Check<SyncRequest["vmi"]>,
        context: record as unknown as Check<SyncRequest["context"]>,
        mayRun: checkMayRun,
      },
      { pod: record as Check<NonNullable<SyncRequest["pod"]>>, podFits: flag },
    ),
    encodeArgs: ({ mayRun, ...rest }) => ({ ...rest, mayRun: mayRun.grant }),
    result: checkStatus,
  },
  pause: { kubevirt: "PauseVirtualMachine", timeout: long },
  unpause: {
    kubevirt: "UnpauseVirtualMachine",
    timeout: long,
    args: (sent, path) => fields({ mayRun: checkMayRun })(sent, path).mayRun,
    encodeArgs: ({ grant }) => ({ mayRun: grant }),
  },
  shutdown: { kubevirt: "ShutdownVirtualMachine", timeout: long },
  kill: { kubevirt: "KillVirtualMachine", timeout: long },
  delete: { kubevirt: "DeleteVirtualMachine", timeout: long },
  softReboot: { kubevirt: "SoftRebootVirtualMachine", timeout: long },
  reset: { kubevirt: "ResetVirtualMachine", timeout: long },
  freeze: {
    kubevirt: "FreezeVirtualMachine",
    timeout: freezing,
    args: fields({ unfreezeAfterSeconds: whole(0, day) }),
  },
  unfreeze: { kubevirt: "UnfreezeVirtualMachine", timeout: freezing },
  exec: {
    kubevirt: "Exec",
    timeout: agentTimeout,
    args: fields(
      { command: text(65_536) },
      { args: list(text(65_536), 4_096), timeoutSeconds: whole(0, day) },
    ),
    result: checkExecResult,
  },
  guestPing: {
    kubevirt: "GuestPing",
    timeout: agentTimeout,
    args: fields({ timeoutSeconds: whole(0, day) }),
  },
  users: { kubevirt: "GetUsers", timeout: short, result: checkUsers },
  fileSystems: { kubevirt: "GetFilesystems", timeout: short, result: checkFileSystems },
  stats: { kubevirt: "GetDomainStats, GetVMStats", timeout: short, result: checkStats },
  screenshot: {
    kubevirt: "GetScreenshot",
    timeout: long,
    result: (sent, path, data) => ({ ...fields({ mime: text(128) })(sent, path), data }),
    encodeResult: ({ mime, data }) => ({ result: { mime }, attachment: data }),
  },
  memoryDump: {
    kubevirt: "VirtualMachineMemoryDump",
    timeout: 600_000,
    args: fields({ path: text(4_096) }),
  },
  status: { kubevirt: "GetDomain, GetGuestInfo", timeout: short, result: checkStatus },
  migrate: {
    kubevirt: "MigrateVirtualMachine",
    timeout: lengthy,
    args: checkMigrate,
    run: moving("migrate"),
  },
  measureGuest: {
    kubevirt: "",
    timeout: lengthy,
    args: checkMeasure,
    result: checkMeasured,
    run: moving("measureGuest"),
  },
  receiveMigration: {
    kubevirt: "SyncMigrationTarget",
    timeout: long,
    args: checkReceive,
    run: moving("receiveMigration"),
  },
  followMigration: {
    kubevirt: "",
    timeout: following,
    args: checkFollow,
    result: checkReport,
    run: moving("followMigration"),
  },
  cancelMigration: {
    kubevirt: "CancelVirtualMachineMigration",
    timeout: long,
    args: checkCancel,
    run: moving("cancelMigration"),
  },
  switchToPostCopy: {
    kubevirt: "",
    timeout: following,
    args: checkNamed,
    run: moving("switchToPostCopy"),
  },
  releaseMigration: {
    kubevirt: "FinalizeVirtualMachineMigration",
    timeout: long,
    args: checkIdentified,
    run: moving("releaseMigration"),
  },
  migrationDecision: {
    kubevirt: "",
    timeout: short,
    args: checkIdentified,
    result: checkDecision,
    run: moving("migrationDecision"),
  },
  noteGrant: {
    kubevirt: "",
    timeout: short,
    args: checkGrantNote,
    run: moving("noteGrant"),
  },
  noteClaim: {
    kubevirt: "",
    timeout: short,
    args: (sent, path) => {
      const { mayRun } = fields({ mayRun: checkMayRun })(sent, path);
      return { ...checkNamed(sent, path), mayRun };
    },
    encodeArgs: ({ migrationUID, mayRun }) => ({ migrationUID, mayRun: mayRun.grant }),
    run: moving("noteClaim"),
  },
};

/** The verb with this name; undefined if there is none. */
export function findVerb(name: string): Verb | undefined {
  return Object.hasOwn(verbs, name) ? (verbs[name as VerbName] as Verb) : undefined;
}
