/** A deep copy of a JSON value: plain objects and lists are new, everything else is shared. */
export function copyJson<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const source = value as Record<string, unknown>;
  const target: Record<string, unknown> = {};
  for (const key of Object.keys(source)) {
    // Assigned, it would become the copy's prototype.
    if (key !== "__proto__") target[key] = copy(source[key]);
  }
  return target;
}
