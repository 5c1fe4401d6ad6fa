import { type Clock, realClock, until } from "@virtkit/api/clock";
import { describeError, type Log, type Observers, silentLog } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { gracePeriodSeconds } from "@virtkit/converter/launcher";
import { hasEnded, isDomainManagerError } from "@virtkit/domain-manager";
import { isLauncherError, type LauncherClient } from "@virtkit/launcher/client";
import { type TeardownOptions, teardown } from "../prepare/teardown.ts";
import { hasExited } from "../sandbox/process-identity.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type ReachOptions, reachLauncher } from "./reach-launcher.ts";

/** How {@link stopGuest} works. */
export interface StopGuestOptions
  extends Omit<TeardownOptions, "sandbox">,
    Pick<ReachOptions, "names" | "readyTimeout" | "clock">,
    Observers {
  /** Seconds within which the guest must shut down; 0 kills it at once. Default: the VMI's, or 30. */
  readonly gracePeriod?: number;
}

/** How often a guest is asked to shut down: some react only to the second request. */
const askInterval = 5_000;
const lookInterval = 100;

/**
 * Ends a guest: asks it to shut down, kills it when its time is over, makes libvirt forget it, and undoes what was
 * prepared in its sandbox. It is fine if it has ended or never existed: the call may be repeated until it succeeds.
 * A launcher that does not answer does not prove that its guest has ended: then the call rejects and the sandbox
 * stays prepared, unless the sandbox's first process is seen to have ended. The sandbox itself is not ended: its
 * creator does that.
 */
export async function stopGuest(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  options: StopGuestOptions,
): Promise<void> {
  await endGuest(vmi, sandbox, options);
  await teardown(sandbox.podUid, { ...options, sandbox });
}

/**
 * The first half of {@link stopGuest}: nothing is undone, for callers who then end the sandbox itself. Writes
 * nothing.
 */
export async function endGuest(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  options: Omit<StopGuestOptions, keyof TeardownOptions> & { readonly signal?: AbortSignal },
): Promise<void> {
  try {
    const client = await reachLauncher(vmi, sandbox, options);
    try {
      const { gracePeriod = gracePeriodSeconds(vmi) } = options;
      await shutDownOrKill(client, { ...options, gracePeriod });
    } finally {
      await client.close();
    }
  } catch (error) {
    if (!(await hasEndedSoon(error, sandbox, options.clock))) throw error;
    options.log?.debug(
      { error: describeError(error) },
      "the sandbox ended before its guest was stopped",
    );
  }
}

/** How long a launcher that has closed its connections may take to end. */
const endTimeout = 20_000;

/**
 * Whether a failure means that the sandbox has ended. A launcher ends after its guest, and its connections before
 * it.
 */
async function hasEndedSoon(
  error: unknown,
  { process }: Sandbox,
  clock: Clock | undefined,
): Promise<boolean> {
  if (!isLauncherError(error)) return hasExited(process);
  const patience = { clock, interval: lookInterval, timeout: endTimeout };
  return (await until(() => hasExited(process), patience)) === true;
}

/** How long a guest has, and observers. */
interface ShutDownOptions extends Observers, Pick<ReachOptions, "clock" | "signal"> {
  /** Seconds. */
  readonly gracePeriod: number;
}

/** Asks a guest repeatedly to shut down, kills it when its time is over, and makes libvirt forget it. */
export async function shutDownOrKill(
  client: Pick<LauncherClient, "status" | "shutdown" | "kill" | "delete">,
  { gracePeriod, clock = realClock, log = silentLog, metrics, signal }: ShutDownOptions,
): Promise<void> {
  const timeout = gracePeriod * 1000;
  const deadline = clock.now() + timeout;
  let askAt = clock.now();
  const hasShutDown = async (): Promise<boolean> => {
    if (hasEnded(await client.status())) return true;
    const now = clock.now();
    if (now >= askAt && now < deadline) {
      askAt = now + askInterval;
      await ask(client, log);
    }
    return false;
  };
  if (!(await until(hasShutDown, { clock, interval: lookInterval, timeout, signal }))) {
    log.warn({ gracePeriod }, "the guest did not shut down within its grace period and is killed");
    metrics?.count("guests_killed_after_grace");
    await client.kill();
  }
  await client.delete();
}

/** A guest that cannot be asked now is asked again, and finally killed. */
async function ask(client: Pick<LauncherClient, "shutdown">, log: Log): Promise<void> {
  try {
    await client.shutdown();
  } catch (error) {
    if (!isDomainManagerError(error)) throw error;
    log.warn({ error: describeError(error) }, "the guest could not be asked to shut down");
  }
}
