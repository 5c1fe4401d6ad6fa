import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { DomainStatus, GuestEvent } from "@virtkit/domain-manager";
import { isLauncherError, type LauncherClient } from "@virtkit/launcher/client";
import { noteStatus } from "../trace/note-status.ts";
import type { Trace } from "../trace/trace.ts";

/** What {@link followGuest} reports, and to whom. */
export interface FollowOptions extends Observers {
  readonly trace: Trace;
  /** Whether the VMI has a readiness probe, no matter who runs it. */
  readonly hasReadinessProbe: boolean;
  readonly onEvent?: ((event: GuestEvent) => void) | undefined;
  readonly onStatus?: ((status: DomainStatus) => void) | undefined;
  /** A new connection after the old one is lost; undefined once the sandbox has ended. */
  readonly reconnect: () => Promise<LauncherClient | undefined>;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

const retryInterval = 200;

/** Writes a guest's events to its trace, over as many connections as needed, until its sandbox ends. */
export async function followGuest(first: LauncherClient, options: FollowOptions): Promise<void> {
  const { clock = realClock, signal } = options;
  let client: LauncherClient | undefined = first;
  while (client && !signal?.aborted) {
    try {
      for await (const event of client.events(signal ? { signal } : {})) take(event, options);
    } catch (error) {
      if (!isLauncherError(error)) throw error;
      options.log?.warn({ error: describeError(error) }, "the connection to the launcher is lost");
    }
    options.metrics?.count("launcher_connections_lost");
    await sleep(clock, retryInterval, signal);
    if (signal?.aborted) return;
    client = await options.reconnect();
  }
}

function take(event: GuestEvent, options: FollowOptions): void {
  const { onEvent, onStatus } = options;
  noteEvent(event, options);
  onEvent?.(event);
  if (event.kind === "status") onStatus?.(event.status);
}

/** Records what an event says about the guest's handoffs. */
export function noteEvent(
  event: GuestEvent,
  { trace, hasReadinessProbe }: Pick<FollowOptions, "trace" | "hasReadinessProbe">,
): void {
  const { at, kind } = event;
  if (kind === "status") noteStatus(trace, event.status, { at, hasReadinessProbe });
  if (kind !== "stage") return;
  const { stage, state, message } = event;
  // A launcher that runs no probes reports that its guest runs; the probe's result is in the status.
  if (stage === "ready" && hasReadinessProbe) return;
  trace.note({ stage, state, at, ...(message === undefined ? {} : { message }) });
}
