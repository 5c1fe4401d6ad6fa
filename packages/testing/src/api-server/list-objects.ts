import type { KubeObject, ListOptions, ObjectList } from "@virtkit/kube";
import type { Kind } from "./kind.ts";
import type { ServerState } from "./server-state.ts";
import { badRequest, expired, statusError } from "./status-error.ts";
import { objectTest } from "./watch-objects.ts";

/** Where a paged list continues: the objects at the time of the first page, and how many have been sent. */
interface Continuation {
  readonly revision: number;
  readonly rest: readonly KubeObject[];
}

/** The lists of each server that have pages to come. */
const continuations = new WeakMap<ServerState, Map<string, Continuation>>();

/** One page of the objects of a resource. All pages of a list show one moment. */
export function listObjects(
  server: ServerState,
  kind: Kind,
  options: ListOptions,
): ObjectList<KubeObject> {
  const { limit = 0 } = options;
  checkVersion(server, options);
  const { revision, rest } = options.continue
    ? continued(server, options.continue)
    : {
        revision: server.revision,
        rest: server.table(kind).list().filter(objectTest(kind, options)),
      };
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const left = rest.slice(items.length);
  const metadata = { resourceVersion: String(revision) };
  if (left.length === 0) return { items, metadata };
  const token = keep(server, { revision, rest: left });
  // A server does not count what a selector would have to look through.
  const counted = !options.labelSelector && !options.fieldSelector;
  return {
    items,
    metadata: {
      ...metadata,
      continue: token,
      ...(counted ? { remainingItemCount: left.length } : {}),
    },
  };
}

function checkVersion(server: ServerState, { resourceVersion, resourceVersionMatch }: ListOptions) {
  if (!resourceVersion) {
    if (!resourceVersionMatch) return;
    throw statusError({
      status: 422,
      reason: "Invalid",
      message: "resourceVersionMatch is forbidden unless resourceVersion is provided",
    });
  }
  const asked = Number(resourceVersion);
  if (!Number.isInteger(asked)) throw badRequest(`invalid resource version ${resourceVersion}`);
  if (asked > server.revision) {
    const message = `Too large resource version: ${asked}, current: ${server.revision}`;
    const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
    throw statusError({ status: 504, reason: "Timeout", message, causes, retryAfterSeconds: 1 });
  }
  if (resourceVersionMatch === "Exact" && asked !== server.revision) server.log.assertKept(asked);
}

function continued(server: ServerState, token: string): Continuation {
  const found = continuations.get(server)?.get(token);
  if (!found) throw expired("The provided continue parameter is too old");
  server.log.assertKept(found.revision);
  return found;
}

function keep(server: ServerState, continuation: Continuation): string {
  const known = continuations.get(server) ?? new Map<string, Continuation>();
  continuations.set(server, known);
  const token = `${continuation.revision}.${known.size + 1}`;
  known.set(token, continuation);
  return token;
}
