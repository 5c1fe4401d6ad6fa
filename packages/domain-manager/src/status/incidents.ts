import type { DomainEvent } from "../libvirt/protocol/events.ts";
import type { DomainStatus } from "./domain-status.ts";
import type { Happening } from "./status-changes.ts";

/** Something that a person should know. */
export type Incident = Extract<Happening, { kind: "incident" }>;

/** Events of libvirt that are incidents by themselves. */
export type IncidentEvent = DomainEvent<"lifecycle" | "ioError" | "watchdog">;

/**
 * What an event of libvirt means for a person; undefined for most. `panic` is what is known about a
 * panic, from {@link panicDetail}.
 */
export function incidentOf(event: IncidentEvent, panic?: string): Incident | undefined {
  switch (event.type) {
    case "ioError":
      // If the guest continues, it got the error itself.
      return event.action === "pause" ? ioError(event.alias, event.reason) : undefined;
    case "watchdog":
      if (event.action === "none") return undefined;
      return incident("Watchdog", `the guest's watchdog expired; action: ${event.action}`);
    case "lifecycle":
      if (event.event !== "crashed") return undefined;
      return incident("GuestPanicked", `the guest's kernel panicked${panic ? `: ${panic}` : ""}`);
  }
}

/**
 * The incident behind a change of the status whose event was missed: a guest that was paused by a
 * disk error.
 */
export function missedIncident(before: DomainStatus, after: DomainStatus): Incident | undefined {
  const isPaused = ({ state, reason }: DomainStatus): boolean =>
    state === "Paused" && reason === "IOError";
  if (!isPaused(after) || isPaused(before)) return undefined;
  return incident("IOerror", "the guest is paused: a disk failed; free or repair it and unpause");
}

function ioError(alias: string, reason: string): Incident {
  const volume = alias.replace(/^ua-/, "");
  const message =
    reason === "enospc"
      ? `the guest is paused: no space is left for volume ${volume}; make room and unpause`
      : `the guest is paused: volume ${volume} failed; repair it and unpause`;
  return incident("IOerror", message);
}

function incident(reason: Incident["reason"], message: string): Incident {
  return { kind: "incident", reason, message };
}
