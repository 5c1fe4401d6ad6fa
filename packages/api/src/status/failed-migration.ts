import { at, objects, text } from "../shape.ts";
import type { PlannedEvent } from "./plan.ts";

/** Kubernetes refuses messages of more than 1,024 characters. */
const mostCharacters = 900;

const beginning = (migrationUID: string): string => `migration ${migrationUID} failed`;

/** The event by which a node agent reports on the VMI that a migration has failed, and why. */
export function failedMigrationEvent(migrationUID: string, why: string): PlannedEvent {
  const message = `${beginning(migrationUID)}: ${why}`.slice(0, mostCharacters);
  return { type: "Warning", reason: "Migrated", message };
}

/** Who reported first that a migration has failed. */
export interface FailureReporter {
  /** Such as `virt-handler`. */
  readonly component: string;
  /** The node of that component; empty for the control plane, and for reports of earlier releases. */
  readonly host: string;
}

/**
 * The first reporter of a failed migration, by the events about its VMI: who comes later has learned it from the status.
 * Accepts values of any shape. Undefined if nobody has reported it, or the server has forgotten that.
 */
export function findFailureReporter(
  events: unknown,
  { vmi, migrationUID }: { readonly vmi: unknown; readonly migrationUID: string },
): FailureReporter | undefined {
  const uid = text(at(vmi, "metadata", "uid"));
  if (uid === "" || migrationUID === "") return undefined;
  return objects(events)
    .filter((event) => at(event, "involvedObject", "kind") === "VirtualMachineInstance")
    .filter((event) => at(event, "involvedObject", "uid") === uid)
    .filter((event) => event["type"] === "Warning")
    .filter((event) => text(event["message"]).startsWith(`${beginning(migrationUID)}:`))
    .map((event) => ({
      component: text(at(event, "source", "component")),
      host: text(at(event, "source", "host")),
      since: Date.parse(text(event["firstTimestamp"]) || text(event["lastTimestamp"])) || 0,
    }))
    .toSorted((a, b) => a.since - b.since)
    .map(({ component, host }) => ({ component, host }))
    .at(0);
}
