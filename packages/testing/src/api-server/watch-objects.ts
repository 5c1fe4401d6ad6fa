import type { KubeObject, WatchEvent, WatchOptions } from "@virtkit/kube";
import type { Change } from "./change-log.ts";
import { frozenCopy } from "./json.ts";
import { type AnyObject, type Kind, kindKey } from "./kind.ts";
import { parseFieldSelector, parseLabelSelector } from "./selectors.ts";
import type { ServerState } from "./server-state.ts";
import { badRequest } from "./status-error.ts";

/** Says of an object whether a request is about it. */
export type ObjectTest = (object: KubeObject) => boolean;

/** What a list or a watch selects. Throws 400 for selectors that cannot be read. */
export function objectTest(
  kind: Kind,
  { namespace, labelSelector, fieldSelector }: WatchOptions,
): ObjectTest {
  const fields = ["metadata.name", "metadata.namespace", ...kind.fields];
  const byLabels = labelSelector ? parseLabelSelector(labelSelector) : undefined;
  const byFields = fieldSelector ? parseFieldSelector(fieldSelector, fields) : undefined;
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (byLabels?.(object.metadata.labels) ?? true) &&
    (byFields?.(object) ?? true);
}

/** How often a quiet watch with bookmarks says that nothing has changed. */
const bookmarkMilliseconds = 60_000;

/**
 * The changes of one resource from a version on, as a watch streams them. Throws 410 for a version that was
 * forgotten.
 */
export async function* watchObjects(
  server: ServerState,
  kind: Kind,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<KubeObject>> {
  const selects = objectTest(kind, options);
  const key = kindKey(kind.resource);
  const queue: WatchEvent<KubeObject>[] = [];
  let wake = () => {};
  let over = false;
  const push = (event: WatchEvent<KubeObject> | undefined) => {
    if (event) queue.push(event);
    wake();
  };
  const end = () => {
    over = true;
    wake();
  };
  for (const event of firstEvents(server, kind, options, selects)) queue.push(event);
  const stop = server.log.follow((change) => {
    if (change.kind === key) push(eventOf(change, selects));
  });
  const bookmarks = options.allowBookmarks
    ? every(server, bookmarkMilliseconds, () => push(bookmark(server, kind)))
    : () => {};
  const timeout = options.timeoutSeconds
    ? server.clock.setTimeout(end, options.timeoutSeconds * 1000)
    : undefined;
  options.signal?.addEventListener("abort", end, { once: true });
  try {
    while (!over && !options.signal?.aborted) {
      const event = queue.shift();
      if (event) yield event;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop();
    bookmarks();
    if (timeout !== undefined) server.clock.clearTimeout(timeout);
    options.signal?.removeEventListener("abort", end);
  }
}

/** What a watch says before the changes to come: the objects that are there, or the changes since. */
function firstEvents(
  server: ServerState,
  kind: Kind,
  { resourceVersion = "", sendInitialEvents, allowBookmarks }: WatchOptions,
  selects: ObjectTest,
): WatchEvent<KubeObject>[] {
  if (resourceVersion !== "" && !/^\d+$/.test(resourceVersion)) {
    throw badRequest(`invalid resource version ${JSON.stringify(resourceVersion)}`);
  }
  const synthetic = resourceVersion === "" || resourceVersion === "0";
  if (sendInitialEvents || (synthetic && sendInitialEvents === undefined)) {
    const there = server.table(kind).list().filter(selects);
    const events: WatchEvent<KubeObject>[] = there.map((object) => ({ type: "ADDED", object }));
    if (!sendInitialEvents) return events;
    const ends = { "k8s.io/initial-events-end": "true" };
    return allowBookmarks ? [...events, bookmark(server, kind, ends)] : events;
  }
  if (synthetic) return [];
  const key = kindKey(kind.resource);
  return server.log
    .since(Number(resourceVersion))
    .filter((change) => change.kind === key)
    .flatMap((change) => eventOf(change, selects) ?? []);
}

/** A change as a watch with that selector sees it: what stops to match counts as deleted. */
function eventOf(change: Change, selects: ObjectTest): WatchEvent<KubeObject> | undefined {
  const { type, object, previous } = change;
  const before = previous !== undefined && selects(previous);
  const now = type !== "DELETED" && selects(object);
  if (now) return { type: before ? "MODIFIED" : "ADDED", object };
  if (!before) return undefined;
  // The object as it last matched, with the version at which it stopped to.
  const { resourceVersion } = object.metadata;
  const last: AnyObject =
    type === "DELETED"
      ? object
      : frozenCopy({ ...previous, metadata: { ...previous.metadata, resourceVersion } as never });
  return { type: "DELETED", object: last };
}

function bookmark(
  { revision }: ServerState,
  { resource: { group, version, kind } }: Kind,
  annotations?: Readonly<Record<string, string>>,
): WatchEvent<KubeObject> {
  const object = {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) },
  };
  return { type: "BOOKMARK", object };
}

function every({ clock }: ServerState, milliseconds: number, act: () => void): () => void {
  let timer = clock.setTimeout(again, milliseconds);
  function again() {
    act();
    timer = clock.setTimeout(again, milliseconds);
  }
  return () => clock.clearTimeout(timer);
}
