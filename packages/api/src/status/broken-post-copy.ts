import { at, objects, text } from "../shape.ts";
import type { PlannedEvent } from "./plan.ts";

const [type, reason] = ["Warning", "Migrating"] as const;
const beginning = "Post-copy is broken, and is recovered as soon as possible: ";
/** Kubernetes refuses messages of more than 1,024 characters. */
const mostCharacters = 900;

/** What a source reported about a post-copy whose stream broke. */
export interface BrokenPostCopy {
  /** What is needed, and why the last attempt to recover failed. */
  readonly why: string;
  /** When it was last reported, as Kubernetes writes times. */
  readonly at: string;
}

/** The event by which the source's node agent reports a broken post-copy on the VMI, once for each new reason. */
export function brokenPostCopyEvent(why: string): PlannedEvent {
  return { type, reason, message: `${beginning}${why}`.slice(0, mostCharacters) };
}

/**
 * The newest report about a VMI since a time, which keeps those of earlier migrations out. Accepts values of any
 * shape. Nobody reports that a post-copy was recovered: the run grant says that, when the target has claimed.
 */
export function findBrokenPostCopy(
  events: unknown,
  { vmi, since }: { readonly vmi: unknown; readonly since: string },
): BrokenPostCopy | undefined {
  const uid = text(at(vmi, "metadata", "uid"));
  return objects(events)
    .filter((event) => at(event, "involvedObject", "kind") === "VirtualMachineInstance")
    .filter((event) => uid !== "" && at(event, "involvedObject", "uid") === uid)
    .filter((event) => event["type"] === type && event["reason"] === reason)
    .filter((event) => text(event["message"]).startsWith(beginning))
    .map((event) => ({
      why: text(event["message"]).slice(beginning.length),
      at: text(event["lastTimestamp"]),
    }))
    .filter((report) => Date.parse(report.at) >= Date.parse(since))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .at(-1);
}
