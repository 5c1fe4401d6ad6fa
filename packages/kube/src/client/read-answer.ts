import type { ObjectList, WatchEvent } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import type { KubeObject } from "./kube-object.ts";
import { apiVersionOf, type Resource } from "./resource.ts";
import { errorOfStatus } from "./status-error.ts";

const excerptLength = 100;

/** One object of an answer. */
export function readObject<T extends KubeObject>(path: string, body: string): T {
  const value = parse(path, body);
  if (!isObject(value)) throw invalid(path, "an object with metadata", body);
  return value as T;
}

/** A page of a list. Its items say of which kind they are, as they do in a watch. */
export function readList<T extends KubeObject>(
  path: string,
  resource: Resource<T>,
  body: string,
): ObjectList<T> {
  const list = parse(path, body) as { items?: unknown; metadata?: { resourceVersion?: unknown } };
  const items = list?.items ?? [];
  const isList = typeof list?.metadata?.resourceVersion === "string" && Array.isArray(items);
  if (!isList || !items.every(isNamed)) throw invalid(path, "a list of objects", body);
  const apiVersion = apiVersionOf(resource);
  for (const item of items as { apiVersion?: string; kind?: string }[]) {
    item.apiVersion ??= apiVersion;
    item.kind ??= resource.kind;
  }
  return { items: items as readonly unknown[], metadata: list.metadata } as ObjectList<T>;
}

/** One line of a watch. */
export function readWatchLine<T extends KubeObject>(path: string, line: string): WatchEvent<T> {
  const { type, object } = (parse(path, line) ?? {}) as { type?: unknown; object?: unknown };
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      if (isNamed(object)) return { type, object: object as T };
      break;
    case "BOOKMARK":
      if (isObject(object)) return { type, object };
      break;
    case "ERROR":
      throw errorOfStatus(path, (object ?? {}) as Record<string, unknown>);
  }
  throw invalid(path, "an event of a watch", line);
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(path, "JSON", text, cause);
  }
}

function isObject(value: unknown): value is KubeObject {
  const metadata = (value as { metadata?: unknown } | null)?.metadata;
  return typeof metadata === "object" && metadata !== null;
}

function isNamed(value: unknown): value is KubeObject {
  return isObject(value) && typeof value.metadata.name === "string";
}

function invalid(path: string, expected: string, text: string, cause?: unknown): KubeError {
  // What looks like an object may be a Secret: none of it goes to a log.
  const isMarkup = !/^\s*[{["]/.test(text);
  const start =
    isMarkup && text ? `, begins with ${JSON.stringify(text.slice(0, excerptLength))}` : "";
  const found = `${text.length} characters${start}`;
  const message = `${path}: the answer must be ${expected}; it has ${found}; is this an API server?`;
  return new KubeError("KUBE_ANSWER_INVALID", message, { path, cause });
}
