import { setTimeout as sleep } from "node:timers/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { gracePeriodSeconds } from "@virtkit/converter/launcher";
import { hasEnded, isDomainManagerError } from "@virtkit/domain-manager";
import { isLauncherError, type LauncherClient } from "@virtkit/launcher/client";
import { type TeardownOptions, teardown } from "../prepare/teardown.ts";
import { hasExited } from "../sandbox/process-identity.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type ReachOptions, reachLauncher } from "./reach-launcher.ts";

/** How {@link stopGuest} goes about it. */
export interface StopGuestOptions
  extends Omit<TeardownOptions, "sandbox">,
    Pick<ReachOptions, "names" | "readyTimeout"> {
  /** Seconds that the guest has to shut down; 0 kills it at once. Default: the VMI's, 30 where it says nothing. */
  readonly gracePeriod?: number;
}

/** How often a guest is asked to shut down: some ask to be asked twice. */
const askInterval = 5_000;
const lookInterval = 100;

/**
 * Ends a guest: asks it to shut down, kills it when its time is over, has libvirt forget it, and takes
 * back what was prepared in its sandbox. What has ended, or never was, is fine: the call may be repeated
 * until it succeeds.
 *
 * A launcher that does not answer is no proof that its guest has ended: then the call rejects and the
 * sandbox stays prepared, unless the sandbox's first process is seen to have ended. The sandbox itself
 * is not ended: whoever made it does that.
 */
export async function stopGuest(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  options: StopGuestOptions,
): Promise<void> {
  await endGuest(vmi, sandbox, options);
  await teardown(sandbox.podUid, { ...options, sandbox });
}

/** The first half of {@link stopGuest}: nothing is taken back, for whoever then ends the sandbox itself. Writes nothing. */
export async function endGuest(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  options: Omit<StopGuestOptions, keyof TeardownOptions> & { readonly signal?: AbortSignal },
): Promise<void> {
  try {
    const client = await reachLauncher(vmi, sandbox, options);
    try {
      await end(vmi, client, options);
    } finally {
      await client.close();
    }
  } catch (error) {
    if (!(await hasEndedSoon(error, sandbox))) throw error;
  }
}

/** How long a launcher that has closed its connections may take to end. */
const endTimeout = 20_000;

/** Whether a failure is that the sandbox has ended. A launcher ends after its guest, and its connections before it. */
async function hasEndedSoon(error: unknown, { process }: Sandbox): Promise<boolean> {
  if (!isLauncherError(error)) return hasExited(process);
  const deadline = performance.now() + endTimeout;
  while (!hasExited(process)) {
    if (performance.now() > deadline) return false;
    await sleep(lookInterval);
  }
  return true;
}

async function end(
  vmi: VirtualMachineInstance,
  client: LauncherClient,
  {
    gracePeriod = gracePeriodSeconds(vmi),
    signal,
  }: Pick<StopGuestOptions, "gracePeriod" | "signal">,
): Promise<void> {
  const deadline = performance.now() + gracePeriod * 1000;
  let asked = Number.NEGATIVE_INFINITY;
  while (!hasEnded(await client.status())) {
    signal?.throwIfAborted();
    if (performance.now() >= deadline) {
      await client.kill();
      break;
    }
    if (performance.now() - asked >= askInterval) {
      asked = performance.now();
      await ask(client);
    }
    await sleep(lookInterval);
  }
  await client.delete();
}

/** A guest that cannot be asked now is asked again, and killed in the end. */
async function ask(client: LauncherClient): Promise<void> {
  try {
    await client.shutdown();
  } catch (error) {
    if (!isDomainManagerError(error)) throw error;
  }
}
