import { clusterConfig } from "@virtkit/api/config";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import type { DomainStatus, GuestEvent, MayRun } from "@virtkit/domain-manager";
import type { LauncherClient } from "@virtkit/launcher/client";
import { RunClaims } from "../claims/run-claims.ts";
import { isNodeAgentError, NodeAgentError } from "../node-agent-error.ts";
import type { Preparation, PrepareOptions } from "../prepare/prepare.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Trace } from "../trace/trace.ts";
import { followGuest } from "./follow-guest.ts";
import { guestRequest, withDefaults } from "./guest-request.ts";
import { failing, noted, prepareNoted } from "./noted-stages.ts";
import { type ReachOptions, reachLauncher, socketReceiver } from "./reach-launcher.ts";

/** What {@link runGuest} works from. */
export interface RunGuestOptions
  extends Omit<PrepareOptions, "config" | "handOver" | "onPrepared">,
    Pick<ReachOptions, "names" | "readyTimeout" | "clock">,
    Observers {
  /** Configuration of the cluster and facts about the node; what is seen of the sandbox is added. */
  readonly environment?: Environment;
  /** Claims the run grant. Default: a {@link RunClaims} in the state directory. */
  readonly claim?: (vmi: VirtualMachineInstance, sandbox: Sandbox) => Promise<MayRun>;
  /** Default: the VMI's trace in the state directory. */
  readonly trace?: Trace;
  /** Called with the whole status each time it changes. */
  readonly onStatus?: (status: DomainStatus) => void;
  readonly onEvent?: (event: GuestEvent) => void;
}

/** A started guest. Disposing of it ends the watch, not the guest. */
export type RunningGuest = AsyncDisposable & {
  /** The current connection; another one after a loss. */
  readonly client: LauncherClient;
  readonly mayRun: MayRun;
  readonly preparation: Preparation;
  /** What the launcher answered when it had started the guest. */
  readonly status: DomainStatus;
  /** Settles when the sandbox or the watch has ended; rejects if watching fails. */
  readonly ended: Promise<void>;
};

/**
 * Runs a VMI in a sandbox: waits for its launcher, prepares the sandbox, claims the run grant of the
 * guest, has the launcher start it, and follows what happens. Every part may be repeated: after a crash
 * of the agent the same call finds the guest running and follows it.
 *
 * Each handoff is recorded in the trace, with the reason if it fails.
 *
 * @throws NodeAgentError, LauncherError or DomainManagerError of the part that failed. The sandbox stays
 *   as it is: call again, or {@link stopGuest}.
 *
 * @example
 * await using guest = await runGuest(vmi, sandbox, { stateDirectory: "/var/lib/virtkit" });
 * await guest.ended;
 */
export async function runGuest(
  given: VirtualMachineInstance,
  sandbox: Sandbox,
  asked: RunGuestOptions,
): Promise<RunningGuest> {
  const { environment = {}, signal } = asked;
  const { config = clusterConfig() } = environment;
  const options: RunGuestOptions = { names: config.names, ...asked };
  const vmi = withDefaults(given, environment);
  const trace = options.trace ?? new Trace(options.stateDirectory, uidOf(vmi));
  const client = await noted(trace, "launcher-ready", () => reachLauncher(vmi, sandbox, options));
  try {
    const preparation = await prepareNoted(vmi, sandbox, trace, {
      ...options,
      config,
      handOver: socketReceiver(vmi, sandbox, client, options),
    });
    // Everything the domain is made of is collected before the claim, so that the claim is not wasted.
    const request = await failing(trace, "domain-defined", async () =>
      guestRequest(preparation, environment),
    );
    const claim = options.claim ?? claimIn(options.stateDirectory);
    // Last: from here on the guest may run, and nobody else may run it.
    const mayRun = await noted(trace, "claimed", () => claim(vmi, sandbox));
    // Before the guest is requested, so that the trace has the time of each handoff.
    const guest = watch(vmi, sandbox, { ...options, trace }, { client, mayRun, preparation });
    try {
      const status = await failing(trace, "guest-running", () =>
        client.syncVmi({ ...request, mayRun }, signal ? { signal } : {}),
      );
      return Object.assign(guest, { status });
    } catch (error) {
      await guest[Symbol.asyncDispose]();
      throw error;
    }
  } catch (error) {
    await client.close();
    throw error;
  }
}

function uidOf({ metadata }: VirtualMachineInstance): string {
  if (metadata?.uid) return metadata.uid;
  const message = "metadata.uid: missing; admit the VMI first";
  throw new NodeAgentError("AGENT_VMI_INVALID", message, { path: "metadata.uid" });
}

function claimIn(stateDirectory: string): NonNullable<RunGuestOptions["claim"]> {
  const claims = new RunClaims(stateDirectory);
  return async ({ metadata }, sandbox) => {
    const { namespace = "default", name = "", uid = "" } = metadata ?? {};
    return await claims.claim({ namespace, name, uid }, sandbox);
  };
}

type Watched = Omit<RunningGuest, "status">;
type Started = Omit<Watched, "ended" | keyof AsyncDisposable>;

function watch(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  options: RunGuestOptions & { readonly trace: Trace },
  started: Started,
): Watched {
  const stop = new AbortController();
  let { client } = started;
  const reconnect = async (): Promise<LauncherClient | undefined> => {
    try {
      client = await reachLauncher(vmi, sandbox, { ...options, signal: stop.signal });
      return client;
    } catch (error) {
      if (stop.signal.aborted) return undefined;
      if (isNodeAgentError(error) && error.code === "AGENT_SANDBOX_GONE") return undefined;
      throw error;
    }
  };
  const { trace, onEvent, onStatus, clock, log, metrics, signal } = options;
  const end = (): void => stop.abort();
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  const ended = followGuest(client, {
    ...{ trace, onEvent, onStatus, reconnect, clock, log, metrics },
    signal: stop.signal,
    hasReadinessProbe: vmi.spec.readinessProbe !== undefined,
  });
  // Interested callers await it; a watch that nobody awaits must not end the process.
  ended.catch((error: unknown) => {
    log?.error({ error: describeError(error) }, "the guest is no longer watched");
  });
  return {
    ...started,
    get client() {
      return client;
    },
    ended,
    async [Symbol.asyncDispose]() {
      signal?.removeEventListener("abort", end);
      end();
      // Reported above.
      await ended.catch(() => {});
      await client.close();
    },
  };
}
