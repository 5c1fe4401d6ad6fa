import type { ClusterConfig } from "@virtkit/api/config";
import { matchesSelector } from "@virtkit/api/match-labels";
import type { Names } from "@virtkit/api/names";

/** What the kernel says of merging equal pages, and of memory in KiB. */
export interface KsmFacts {
  readonly running: boolean;
  readonly pagesToScan: number;
  readonly totalMemory: number;
  readonly availableMemory: number;
}

/** What the kernel is told. */
export interface KsmSettings {
  readonly running: boolean;
  /** Only where it runs. */
  readonly sleepMilliseconds?: number;
  readonly pagesToScan?: number;
}

/** What is done about KSM on a node. */
export interface KsmPlan {
  /** Absent where nothing is changed. */
  readonly settings?: KsmSettings;
  /** Value of the label: whether this node is one of those that the configuration names. */
  readonly eligible: boolean;
  /** Value of the annotation: whether the agent has switched it on. */
  readonly managed: boolean;
}

interface KsmNode {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Used memory at which the kernel sleeps for the baseline: 16 GiB, in KiB. */
const baselineMemory = 16 * 1024 * 1024;

/**
 * What to do about merging equal pages of memory: more of it while memory is short, less while it is not. A node that the
 * configuration does not name is left alone, unless the agent had switched it on. `facts` is undefined where the
 * kernel cannot do it.
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

/** An override that is out of bounds is the default, or the least where the default is out of bounds too. */
function override(text: string | undefined, standard: number, least: number, most: number): number {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isNaN(value)) return standard;
  if (value >= least && value <= most) return value;
  return standard > least && standard < most ? standard : least;
}
