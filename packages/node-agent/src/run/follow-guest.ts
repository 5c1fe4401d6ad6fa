import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { DomainStatus, GuestEvent } from "@virtkit/domain-manager";
import { isLauncherError, type LauncherClient } from "@virtkit/launcher/client";
import type { Trace } from "../trace/trace.ts";

/** What {@link followGuest} tells, and to whom. */
export interface FollowOptions extends Observers {
  readonly trace: Trace;
  readonly onEvent?: ((event: GuestEvent) => void) | undefined;
  readonly onStatus?: ((status: DomainStatus) => void) | undefined;
  /** A new connection, once the old one is lost; undefined once the sandbox has ended. */
  readonly reconnect: () => Promise<LauncherClient | undefined>;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

const retryInterval = 200;

/** Reads a guest's events into its trace, over as many connections as it takes, until its sandbox ends. */
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

function take(event: GuestEvent, { trace, onEvent, onStatus }: FollowOptions): void {
  noteEvent(trace, event);
  onEvent?.(event);
  if (event.kind === "status") onStatus?.(event.status);
}

/** Whether a guest is ready: by its readiness probe if it has one, else because its agent answers. */
export function isReady({ probes, agent }: DomainStatus): boolean {
  return probes?.readiness ? probes.readiness.state === "passing" : agent === "connected";
}

/** Writes down what an event tells of the guest's way. */
export function noteEvent(trace: Trace, event: GuestEvent): void {
  if (event.kind === "stage") {
    const { stage, state, at, message } = event;
    trace.note({ stage, state, at, ...(message === undefined ? {} : { message }) });
  }
  if (event.kind !== "status") return;
  const { at, status } = event;
  if (status.state === "Running") {
    trace.note({ stage: "domain-defined", at });
    trace.note({ stage: "guest-running", at });
  }
  if (status.agent === "connected") {
    trace.note({ stage: "agent-connected", at });
  }
  if (isReady(status)) trace.note({ stage: "ready", at });
}
