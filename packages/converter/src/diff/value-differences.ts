import { bytesIn } from "./memory-bytes.ts";

/** A value that differs between two domains. */
export interface ValueDifference {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Where two values of the model differ. Aliases and addresses that libvirt chose do not count; with `filledIn`,
 * nothing that only `running` has counts. Empty equals missing.
 */
export function valueDifferences(
  running: unknown,
  wanted: unknown,
  path: string,
  filledIn: boolean,
): ValueDifference[] {
  if (isEmpty(wanted) && (filledIn || isEmpty(running))) return [];
  if (isObject(running) && isObject(wanted)) {
    if (Array.isArray(running) && Array.isArray(wanted)) {
      return listDifferences(running, wanted, path, filledIn);
    }
    return fieldDifferences(running as Fields, wanted as Fields, path, filledIn);
  }
  return running === wanted ? [] : [{ path, from: running, to: wanted }];
}

function fieldDifferences(
  running: Fields,
  wanted: Fields,
  path: string,
  filledIn: boolean,
): ValueDifference[] {
  const [ours, theirs] = [inBytes(running), inBytes(wanted)];
  const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...keys].flatMap((key) => {
    if (isAdded(key, ours[key], theirs[key], filledIn)) return [];
    return valueDifferences(ours[key], theirs[key], path === "" ? key : `${path}.${key}`, filledIn);
  });
}

/** What libvirt adds to a device that was requested without it. */
function isAdded(key: string, running: unknown, wanted: unknown, filledIn: boolean): boolean {
  if (key === "extra") return filledIn || (isEmpty(running) && isEmpty(wanted));
  return (key === "alias" || key === "address") && (running === undefined || wanted === undefined);
}

/** Libvirt counts in KiB, whatever the requested unit. */
function inBytes(fields: Fields): Fields {
  const { unit, ...others } = fields;
  const key = ["value", "size", "memory"].find((name) => isNumber(others[name]));
  if (typeof unit !== "string" || key === undefined) return fields;
  return { ...others, [key]: bytesIn(others[key] as number | bigint, unit) };
}

function listDifferences(
  running: readonly unknown[],
  wanted: readonly unknown[],
  path: string,
  filledIn: boolean,
): ValueDifference[] {
  if (!filledIn) {
    if (running.length !== wanted.length) return [{ path, from: running, to: wanted }];
    return wanted.flatMap((item, at) =>
      valueDifferences(running[at], item, `${path}[${at}]`, filledIn),
    );
  }
  // Libvirt adds to lists and sorts some: each wanted item must be in it, anywhere.
  return wanted.flatMap((item, at) => {
    const same = (other: unknown): boolean => valueDifferences(other, item, "", true).length === 0;
    return running.some(same) ? [] : [{ path: `${path}[${at}]`, from: running[at], to: item }];
  });
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Nothing, or an object or list with only what a parser filled in. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  if (!isObject(value)) return false;
  return Object.entries(value).every(([key, child]) => key === "implied" || isEmpty(child));
}
