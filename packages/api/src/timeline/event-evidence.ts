import { at, isObject, isSet, objects, text } from "../shape.ts";
import { done, type EvidenceByStage, failed, waiting } from "./evidence.ts";
import { sentence } from "./sentences.ts";
import type { Stage } from "./stage.ts";
import { unsyncedStage } from "./unsynced-stage.ts";

/** The used parts of an event of either API (`v1` or `events.k8s.io/v1`). */
export interface TimelineEvent {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly involvedObject?: EventSubject;
  readonly regarding?: EventSubject;
}

/** What an event is about. */
export interface EventSubject {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** What happened, by the kind of the subject and the reason. */
const happened: Readonly<Record<string, Stage>> = {
  "VirtualMachineInstance SuccessfulCreate": "pod-created",
  "VirtualMachineInstance Created": "domain-defined",
  "VirtualMachineInstance Started": "guest-running",
  "Pod Scheduled": "scheduled",
  "Pod Started": "pod-running",
};

/** What keeps a stage from happening, by the kind of the subject and the reason. */
const hinders: Readonly<Record<string, Stage>> = {
  "VirtualMachine FailedCreate": "admitted",
  "VirtualMachineInstance FailedCreate": "pod-created",
  "VirtualMachineInstance FailedPvcNotFound": "pod-created",
  "VirtualMachineInstance FailedDataVolumeImport": "pod-created",
  "VirtualMachineInstance FailedBackendStorageCreate": "pod-created",
  "VirtualMachineInstance FailedGuaranteeResources": "launcher-ready",
  "VirtualMachineInstance SyncFailed": "domain-defined",
  "Pod FailedScheduling": "scheduled",
  "Pod FailedMount": "pod-running",
  "Pod FailedAttachVolume": "pod-running",
  "Pod FailedMapVolume": "pod-running",
  "Pod FailedCreatePodSandBox": "pod-running",
  "Pod NetworkNotReady": "pod-running",
  "Pod Failed": "pod-running",
  "Pod BackOff": "pod-running",
};

/** What the events about a VMI, its VM and its Pod show. Of two events about a stage the later one counts. */
export function eventEvidence(events: unknown, vmi: unknown, pod: unknown): EvidenceByStage {
  const found: EvidenceByStage = {};
  for (const event of sorted(events)) {
    const kind = subjectOf(event, vmi, pod);
    if (!kind) continue;
    const key = `${kind} ${text(event.reason)}`;
    const doneStage = Object.hasOwn(happened, key) ? happened[key] : undefined;
    if (doneStage) found[doneStage] ??= done(timeOf(event));
    const stage = Object.hasOwn(hinders, key) ? hinders[key] : undefined;
    if (stage && found[stage]?.state !== "done")
      found[hindered(stage, event)] = hindrance(event, kind);
  }
  return found;
}

/** A sync failure names its stage only in its message. */
function hindered(stage: Stage, event: TimelineEvent): Stage {
  return stage === "domain-defined" ? unsyncedStage(messageOf(event)) : stage;
}

function hindrance(event: TimelineEvent, kind: string): ReturnType<typeof waiting> {
  const reason = sentence(text(event.reason), messageOf(event));
  // A VM that admission refuses is refused again until it is changed.
  return kind === "VirtualMachine" ? failed(reason, timeOf(event)) : waiting(reason, timeOf(event));
}

/** The kind of the subject, if it is the VMI, its VM or its Pod. */
function subjectOf(event: TimelineEvent, vmi: unknown, pod: unknown): string | undefined {
  const found: unknown = event.regarding ?? event.involvedObject;
  if (!isObject(found)) return undefined;
  const subject: EventSubject = found;
  const kind = text(subject.kind);
  if (kind === "Pod") return pod && isAbout(subject, pod) ? kind : undefined;
  if (kind === "VirtualMachineInstance") return isAbout(subject, vmi) ? kind : undefined;
  const isOfVm = kind === "VirtualMachine" && subject.name === at(vmi, "metadata", "name");
  return isOfVm ? kind : undefined;
}

/** By UID if both have one: a new object may have taken the name of an old one. */
function isAbout(subject: EventSubject, object: unknown): boolean {
  const uid = at(object, "metadata", "uid");
  if (isSet(uid) && isSet(subject.uid)) return uid === subject.uid;
  return text(subject.name) !== "" && subject.name === at(object, "metadata", "name");
}

function sorted(events: unknown): readonly TimelineEvent[] {
  return [...objects<TimelineEvent>(events)].sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
}

function timeOf(event: TimelineEvent): string {
  return text(event.lastTimestamp) || text(event.eventTime) || text(event.firstTimestamp);
}

function messageOf(event: TimelineEvent): string {
  return text(event.message) || text(event.note);
}
