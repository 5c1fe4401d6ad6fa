import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import type { SyncRequest } from "@virtkit/domain-manager";
import type { LauncherClient } from "@virtkit/launcher/client";
import { type PrepareOptions, prepare } from "../prepare/prepare.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { guestRequest, withDefaults } from "./guest-request.ts";
import { type ReachOptions, reachLauncher, socketReceiver } from "./reach-launcher.ts";

/** What {@link receiveGuest} works from. */
export interface ReceiveGuestOptions
  extends Omit<PrepareOptions, "config" | "handOver" | "onPrepared">,
    Pick<ReachOptions, "names" | "readyTimeout" | "clock"> {
  readonly environment?: Environment;
}

/** A sandbox that a guest can move into. */
export interface ReceivingSandbox {
  readonly client: LauncherClient;
  /** What this sandbox would run itself. */
  readonly request: Omit<SyncRequest, "mayRun">;
}

/**
 * Makes a sandbox ready for a guest from another one: everything that `runGuest` does before the claim. The network
 * is wired like the source's, with the MAC in the VMI. Nothing is claimed or run.
 */
export async function receiveGuest(
  given: VirtualMachineInstance,
  sandbox: Sandbox,
  asked: ReceiveGuestOptions,
): Promise<ReceivingSandbox> {
  const { environment = {} } = asked;
  const { config = clusterConfig() } = environment;
  const options: ReceiveGuestOptions = { names: config.names, ...asked };
  const vmi = withDefaults(given, environment);
  const client = await reachLauncher(vmi, sandbox, options);
  try {
    const preparation = await prepare(vmi, sandbox, {
      ...options,
      config,
      handOver: socketReceiver(vmi, sandbox, client, options),
    });
    return { client, request: guestRequest(preparation, environment) };
  } catch (error) {
    await client.close();
    throw error;
  }
}
