/**
 * The same JSON value without the fields that are `null`, which Kubernetes reads as absent. Returns
 * the argument itself if it has none; otherwise copies only the way down to them.
 */
export function withoutNulls<T>(value: T): T {
  return strip(value) as T;
}

function strip(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? stripList(value) : stripObject(value as Record<string, unknown>);
}

function stripList(list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const stripped = strip(item);
    if (stripped === item) continue;
    copy ??= [...list];
    copy[i] = stripped;
  }
  return copy ?? list;
}

function stripObject(object: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(object)) {
    const field = object[key];
    const stripped = strip(field);
    if (field !== null && stripped === field) continue;
    copy ??= { ...object };
    if (field === null) delete copy[key];
    else copy[key] = stripped;
  }
  return copy ?? object;
}
