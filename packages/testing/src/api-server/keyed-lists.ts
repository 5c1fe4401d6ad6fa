import { isJsonObject } from "./json.ts";

/**
 * Lists that Kubernetes merges item by item, and the key of their items, by the path in the object. Only
 * those in kinds and fields that our controllers and manifests use; all other lists are replaced. The
 * template of a workload counts as its Pod.
 */
const keys: Readonly<Record<string, string>> = {
  "metadata.ownerReferences": "uid",
  "spec.containers": "name",
  "spec.containers[].env": "name",
  "spec.containers[].ports": "containerPort",
  "spec.containers[].volumeMounts": "mountPath",
  "spec.initContainers": "name",
  "spec.initContainers[].env": "name",
  "spec.initContainers[].volumeMounts": "mountPath",
  "spec.volumes": "name",
  "spec.ports": "port",
  "status.conditions": "type",
  "status.addresses": "type",
  webhooks: "name",
};

/** Lists of plain values of which the union is made. */
const sets: readonly string[] = ["metadata.finalizers"];

/** The key by which the items of a list are merged; undefined if the list is replaced. */
export function mergeKey(path: string): string | undefined {
  return keys[podPath(path)];
}

export function isMergedSet(path: string): boolean {
  return sets.includes(podPath(path));
}

function podPath(path: string): string {
  return path.replace(/^spec\.template\./, "");
}

/** What marks a list that was turned into an object by {@link keyed}. */
const mark = "\u0000";

/** The value with each such list as an object, by the keys of its items: then merging objects merges the lists. */
export function keyed(value: unknown, path = ""): unknown {
  if (Array.isArray(value)) return keyedList(value, path);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      keyed(item, path === "" ? key : `${path}.${key}`),
    ]),
  );
}

function keyedList(list: readonly unknown[], path: string): unknown {
  const key = mergeKey(path);
  if (isMergedSet(path)) return Object.fromEntries(list.map((item) => [`${mark}=${item}`, item]));
  if (!key || !list.every((item) => isJsonObject(item) && item[key] !== undefined)) return list;
  return Object.fromEntries(
    list.map((item) => [`${mark}${key}=${Object(item)[key]}`, keyed(item, `${path}[]`)]),
  );
}

/** The value with its lists as lists again. */
export function unkeyed(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value);
  if (names.length > 0 && names.every((name) => name.startsWith(mark))) {
    return Object.values(value).map((item) => unkeyed(item));
  }
  return Object.fromEntries(names.map((name) => [name, unkeyed(value[name])]));
}

/** Whether a name is that of an item of a list that was turned into an object. */
export function isListItem(name: string): boolean {
  return name.startsWith(mark);
}

/** A path through keyed lists as a server names it: `spec.containers[name="main"].image`. */
export function fieldName(names: readonly string[]): string {
  return names
    .map((name) => {
      if (!name.startsWith(mark)) return `.${name}`;
      const [key = "", ...rest] = name.slice(1).split("=");
      const text = JSON.stringify(rest.join("="));
      return key === "" ? `[=${text}]` : `[${key}=${text}]`;
    })
    .join("")
    .replace(/^\./, "");
}
