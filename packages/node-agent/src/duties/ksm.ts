import type { ClusterConfig } from "@virtkit/api/config";
import { matchesSelector } from "@virtkit/api/match-labels";
import type { Names } from "@virtkit/api/names";

/** What the kernel reports about merging equal pages, and about memory in KiB. */
export interface KsmFacts {
  readonly running: boolean;
  readonly pagesToScan: number;
  readonly totalMemory: number;
  readonly availableMemory: number;
}

/** What is written to the kernel. */
export interface KsmSettings {
  readonly running: boolean;
  /** Only if KSM runs. */
  readonly sleepMilliseconds?: number;
  readonly pagesToScan?: number;
}

/** What to do about KSM on a node. */
export interface KsmPlan {
  /** Absent if nothing is changed. */
  readonly settings?: KsmSettings;
  /** Value of the label: whether the configuration selects this node. */
  readonly eligible: boolean;
  /** Value of the annotation: whether the agent has enabled it. */
  readonly managed: boolean;
}

interface KsmNode {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Used memory at which the kernel sleeps for the baseline: 16 GiB, in KiB. */
const baselineMemory = 16 * 1024 * 1024;

/**
 * What to do about merging equal pages of memory: more of it while memory is short, less while it is not. A node
 * that the configuration does not select is left alone, unless the agent had enabled KSM. `facts` is undefined if
 * the kernel does not support it.
 */
export function planKsm(
  facts: KsmFacts | undefined,
  { labels = {}, annotations = {} }: KsmNode,
  { ksm, names }: Pick<ClusterConfig, "ksm" | "names">,
): KsmPlan {
  const selector = ksm?.nodeLabelSelector;
  const eligible =
    facts !== undefined && selector !== undefined && matchesSelector(selector, labels);
  if (!eligible || !facts) {
    const ours = annotations[names.annotations.ksmHandlerManaged] === "true";
    const stop = facts?.running === true && ours;
    return { ...(stop && { settings: { running: false } }), eligible: false, managed: false };
  }
  const settings = settingsFor(facts, annotations, names);
  return { settings, eligible: true, managed: settings.running };
}

function settingsFor(
  { running, pagesToScan, totalMemory, availableMemory }: KsmFacts,
  annotations: Readonly<Record<string, string>>,
  { annotations: keys }: Names,
): KsmSettings {
  const read = (key: string, standard: number, least: number, most: number): number =>
    override(annotations[key], standard, least, most);
  const boost = read(keys.ksmPagesBoost, 300, 0, Infinity);
  const decay = read(keys.ksmPagesDecay, -50, -Infinity, 0);
  const least = read(keys.ksmPagesMin, 64, 0, Infinity);
  const most = read(keys.ksmPagesMax, 1250, least, Infinity);
  const first = read(keys.ksmPagesInit, 100, least, most);
  const sleep = read(keys.ksmSleepMsBaseline, 100, 1, Infinity);
  const free = read(keys.ksmFreePercent, 0.2, 0, 1);
  const used = Math.max(1, totalMemory - availableMemory);
  const sleepMilliseconds = Math.max(
    Math.floor((sleep * baselineMemory) / used),
    Math.floor(sleep / 10),
  );
  if (availableMemory > totalMemory * free) {
    if (!running) return { running: false };
    const pages = pagesToScan + decay;
    if (pages < least) return { running: false };
    return { running: true, sleepMilliseconds, pagesToScan: pages };
  }
  const pages = running ? Math.min(pagesToScan + boost, most) : first;
  return { running: true, sleepMilliseconds, pagesToScan: pages };
}

/** An override that is out of bounds becomes the default, or the minimum if the default is out of bounds, too. */
function override(text: string | undefined, standard: number, least: number, most: number): number {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isNaN(value)) return standard;
  if (value >= least && value <= most) return value;
  return standard > least && standard < most ? standard : least;
}
