import type { GuestControl, GuestFileSystem, MayRun } from "@virtkit/domain-manager";
import type { CallOutcome, JsonObject, LauncherCall } from "./launcher-call.ts";

/** Seconds of a day: the longest time that a launcher keeps a freeze. */
const day = 24 * 60 * 60;

/** KubeVirt reports at most this many users and file systems with the guest's system. */
const mostListed = 10;

interface CallOptions {
  readonly mayRun: () => Promise<MayRun>;
  readonly signal: AbortSignal;
}

/** Makes a launcher carry out a request. Never rejects: the outcome says what failed. */
export async function carryOutCall(
  call: LauncherCall,
  launcher: GuestControl,
  options: CallOptions,
): Promise<CallOutcome> {
  try {
    const value = await Promise.race([
      perform(call, launcher, options),
      givenUp(options.signal, call.verb),
    ]);
    return { done: true, value };
  } catch (error) {
    return { done: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** A launcher may ignore the signal: nobody waits for one that does. */
function givenUp(signal: AbortSignal, verb: string): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(new Error(`${verb}: timed out; it may still be carried out`));
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

async function perform(
  call: LauncherCall,
  launcher: GuestControl,
  { mayRun, signal }: CallOptions,
): Promise<unknown> {
  switch (call.verb) {
    case "unpause":
      return await launcher.unpause(await mayRun(), { signal });
    case "freeze":
      return await launcher.freeze(
        { unfreezeAfterSeconds: freezeSeconds(call.unfreezeAfterSeconds) },
        { signal },
      );
    case "guestInfo":
      return await guestInfo(launcher, signal);
    case "fileSystems":
      return (await launcher.fileSystems({ signal })).map(fileSystemForm);
    case "pause":
    case "unfreeze":
    case "softReboot":
    case "reset":
    case "screenshot":
    case "users":
      return await launcher[call.verb]({ signal });
    default:
      throw new Error(`${call.verb}: the launcher has no such verb`);
  }
}

/** A timeout in the past means at once, and zero means never: the first must not become the second. */
function freezeSeconds(seconds: number): number {
  return seconds < 0 ? 1 : Math.min(seconds, day);
}

async function guestInfo(launcher: GuestControl, signal: AbortSignal): Promise<JsonObject> {
  const status = await launcher.status({ signal });
  // An agent may know one and not the other: what it does not report is left out.
  const [users, fileSystems] = await Promise.allSettled([
    launcher.users({ signal }),
    launcher.fileSystems({ signal }),
  ]);
  const found = {
    guestAgentVersion: status.agentVersion,
    supportedCommands: status.agentCommands?.map((name) => ({ name, enabled: true })),
    hostname: status.hostname,
    os: status.os,
    timezone: status.timezone,
    fsFreezeStatus: status.fsFreeze,
    userList: users.status === "fulfilled" ? users.value.slice(0, mostListed) : undefined,
    fsInfo:
      fileSystems.status === "fulfilled"
        ? { disks: fileSystems.value.slice(0, mostListed).map(fileSystemForm) }
        : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}

function fileSystemForm({ disks, ...rest }: GuestFileSystem): JsonObject {
  return disks.length > 0 ? { ...rest, disk: disks } : rest;
}
