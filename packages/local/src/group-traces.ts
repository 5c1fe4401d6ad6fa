import type { LocalInventory, LocalTrace } from "./local-inventory.ts";
import type { UnreadableRecord } from "./record-file.ts";
import { podsOf, type VmiRecord } from "./vmi-record.ts";

type VmiName = Pick<VmiRecord, "namespace" | "name">;

/** Who owns the traces of a Pod. Only traces of `nobody` are removed without naming them. */
export type TraceOwner =
  /** A record of this state directory. */
  | { readonly by: "record"; readonly record: VmiRecord }
  /** A record that exists but cannot be read. */
  | { readonly by: "unreadable-record"; readonly record: UnreadableRecord }
  | { readonly by: "other-directory"; readonly stateDirectory: string }
  /**
   * Evidence is missing or cannot be read. `isHere`: something says that it belongs to this state
   * directory.
   */
  | { readonly by: "unknown"; readonly reason: string; readonly isHere: boolean }
  | { readonly by: "nobody" };

/** All traces of one Pod. */
export interface PodTraces {
  /** Undefined if the traces do not say it. */
  readonly podUid: string | undefined;
  /** As a claim or the note of its owner names it. */
  readonly vmi?: VmiName;
  readonly vmiUid?: string;
  readonly traces: readonly LocalTrace[];
  /** Whether a process of it runs. */
  readonly running: "yes" | "no" | "unknown";
  readonly owner: TraceOwner;
}

/** Groups the traces of an inventory by Pod, and decides who owns each Pod. Pure. */
export function groupTraces(inventory: LocalInventory): readonly PodTraces[] {
  const keyOf = keys(inventory);
  const groups = new Map<string, LocalTrace[]>();
  for (const trace of inventory.traces) {
    const key = keyOf(trace);
    groups.set(key, [...(groups.get(key) ?? []), trace]);
  }
  return [...groups].map(([, traces]) => podTraces(inventory, traces, keyOf));
}

/**
 * The Pod's UID, if a trace contains it or another trace identifies the Pod; otherwise what it does
 * contain.
 */
function keys({ traces, records }: LocalInventory): (trace: LocalTrace) => string {
  const uids = traces.flatMap(({ podUid }) => podUid ?? []);
  const known = [...uids, ...(records?.records ?? []).flatMap(podsOf)];
  const byShort = new Map(known.map((uid) => [uid.replaceAll("-", "").slice(0, 11), uid]));
  const ofTraces = traces.flatMap(({ podUid, vmiUid }) =>
    podUid && vmiUid ? [[vmiUid, podUid] as const] : [],
  );
  const ofRecords = (records?.records ?? []).map(
    ({ vmi, podUid }) => [vmi.metadata?.uid ?? "", podUid] as const,
  );
  const byVmi = new Map([...ofTraces, ...ofRecords]);
  return ({ podUid, shortUid = "", vmiUid = "", place }) =>
    podUid ?? byShort.get(shortUid) ?? byVmi.get(vmiUid) ?? (shortUid || place);
}

function podTraces(
  inventory: LocalInventory,
  traces: readonly LocalTrace[],
  keyOf: (trace: LocalTrace) => string,
): PodTraces {
  const [first] = traces;
  const key = first ? keyOf(first) : "";
  const isUid =
    traces.some(({ podUid }) => podUid === key) || recordOf(inventory, key) !== undefined;
  const podUid = isUid ? key : undefined;
  const note = inventory.owners.find((owner) => owner.podUid === podUid);
  const { namespace, name } = note?.owner ?? {};
  const noted = namespace === undefined || name === undefined ? undefined : { namespace, name };
  const vmi = traces.find((trace) => trace.vmi)?.vmi ?? noted;
  const vmiUid = traces.find((trace) => trace.vmiUid !== undefined)?.vmiUid;
  const pod = {
    podUid,
    traces,
    running: runningOf(inventory, traces),
    ...(vmi ? { vmi } : {}),
    ...(vmiUid === undefined ? {} : { vmiUid }),
  };
  return { ...pod, owner: ownerOf(inventory, pod) };
}

function recordOf({ records }: LocalInventory, podUid: string | undefined): VmiRecord | undefined {
  if (podUid === undefined) return undefined;
  return records?.records.find((record) => podsOf(record).includes(podUid));
}

/** Where cgroups could not be listed, a Pod without one may have one. */
function runningOf(
  { unseen }: LocalInventory,
  traces: readonly LocalTrace[],
): PodTraces["running"] {
  const cgroups = traces.filter(({ kind }) => kind === "cgroup");
  if (cgroups.some(({ processes = 0 }) => processes > 0)) return "yes";
  const isSeen = !unseen.some(({ place }) => place === "cgroups");
  return isSeen && cgroups.every(({ processes }) => processes === 0) ? "no" : "unknown";
}

/** Kinds that lie in the state directory itself. */
const ownKinds: readonly LocalTrace["kind"][] = [
  "claim",
  "Pod directory",
  "journal",
  "trace",
  "addresses",
];

function ownerOf(inventory: LocalInventory, pod: Omit<PodTraces, "owner">): TraceOwner {
  const { records, owners, stateDirectory } = inventory;
  const { podUid, vmi, traces, running } = pod;
  const record = recordOf(inventory, podUid);
  if (record) return { by: "record", record };
  const garbled = records?.unreadable.find(
    (each) =>
      (podUid !== undefined && each.podUid === podUid) ||
      (each.namespace === vmi?.namespace && each.name === vmi.name),
  );
  const note = owners.find((each) => each.podUid === podUid);
  const directory = note?.owner?.stateDirectory;
  if (directory !== undefined && directory !== stateDirectory) {
    return { by: "other-directory", stateDirectory: directory };
  }
  if (garbled) return { by: "unreadable-record", record: garbled };
  const isHere = directory !== undefined || traces.some(({ kind }) => ownKinds.includes(kind));
  const unknown = (reason: string): TraceOwner => ({ by: "unknown", reason, isHere });
  if (note && directory === undefined) return unknown(`${note.file} cannot be read`);
  if (!isHere) return unknown("nothing says to which state directory it belongs");
  if (!records) return unknown(`the records in ${stateDirectory} cannot be listed`);
  // An unreadable record may belong to any Pod that is not known to be another's.
  const loose = records.unreadable.find(
    (each) => each.podUid === undefined || podUid === undefined,
  );
  if (loose) return unknown(`it may belong to ${loose.file}, which cannot be read`);
  if (running === "unknown") return unknown("it is not known whether it runs");
  if (running === "yes" && directory === undefined) {
    return unknown("it is running, and only files that could be copies say that it belongs here");
  }
  if (podUid === undefined && traces.some(({ kind }) => kind !== "trace")) {
    return unknown("nothing says to which Pod it belongs");
  }
  return { by: "nobody" };
}
