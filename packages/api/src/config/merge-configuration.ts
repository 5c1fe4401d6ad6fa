import { ApiError } from "../api-error.ts";
import type { KubeVirtConfiguration } from "../schema/index.ts";
import { defaultConfiguration } from "./default-configuration.ts";
import type { EffectiveConfiguration } from "./effective-configuration.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Fields whose empty value (`0`, `""`, `false`) means itself. Everywhere else KubeVirt does not
 * write empty values when it lays a configuration over the defaults, so the default stays.
 */
const keepEmpty: ReadonlySet<string> = new Set([
  "evictionStrategy",
  "memBalloonStatsPeriod",
  "cpuRequest",
  "permitBridgeInterfaceOnPodNetwork",
  "permitSlirpInterface",
  "vmRolloutStrategy",
]);

/** No path of the configuration is this deep; deeper input is not walked. */
const maxDepth = 64;

/**
 * Lays a configuration over the defaults, as KubeVirt does: objects merge field by field, lists and
 * scalars replace, `null` and empty values leave the default. The result shares nothing with the
 * input and is frozen.
 *
 * Throws an `ApiError` with `API_CONFIG_INVALID` where an object is expected and something else is
 * found, or where the input is nested beyond all reason.
 */
export function mergeConfiguration(
  configuration: KubeVirtConfiguration,
  defaultArchitecture: string,
): EffectiveConfiguration {
  const defaults = defaultConfiguration(defaultArchitecture);
  const merged = mergeObjects(defaults as unknown as Json, configuration as Json, "");
  const effective = merged as unknown as EffectiveConfiguration;
  // KubeVirt takes it from the status of its own object, whatever the configuration says.
  effective.architectureConfiguration.defaultArchitecture = defaultArchitecture;
  // Left open, it follows what it used to be part of.
  effective.migrations.allowWorkloadDisruption ??= effective.migrations.allowPostCopy;
  return freeze(effective);
}

function mergeObjects(defaults: Json, overrides: Json, path: string): Record<string, unknown> {
  const merged = new Map(Object.entries(defaults));
  for (const [name, value] of Object.entries(overrides)) {
    const field = path === "" ? name : `${path}.${name}`;
    if (!leavesDefault(name, value, path)) {
      merged.set(name, mergeField(defaults[name], value, field));
    }
  }
  return Object.fromEntries(merged);
}

function leavesDefault(name: string, value: unknown, path: string): boolean {
  if (value === null || value === undefined) return true;
  const empty = value === 0 || value === "" || value === false || isEmptyList(value);
  return empty && path !== "migrations" && !keepEmpty.has(name);
}

function mergeField(current: unknown, value: unknown, path: string): unknown {
  if (!isObject(current)) return copy(value, path, maxDepth);
  if (!isObject(value)) {
    const found = Array.isArray(value) ? "a list" : JSON.stringify(value);
    throw invalid(path, `${path} is ${found}; give an object`);
  }
  const replaced = replacedWhole(path);
  return replaced
    ? { ...replaced, ...(copy(value, path, maxDepth) as Json) }
    : mergeObjects(current, value, path);
}

/** Objects that a configuration replaces rather than extends, with what their absent fields become. */
function replacedWhole(path: string): Json | undefined {
  if (path.endsWith(".tokenBucketRateLimiter")) return { qps: 0, burst: 0 };
  return path === "developerConfiguration.diskVerification" ? {} : undefined;
}

function copy(value: unknown, path: string, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) throw invalid(path, `${path} is nested more than ${maxDepth} levels deep`);
  if (Array.isArray(value)) return value.map((item) => copy(item, path, depth - 1));
  // fromEntries defines properties: a field called __proto__ stays a field.
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, copy(inner, path, depth - 1)]),
  );
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function invalid(path: string, message: string): ApiError {
  const full = `spec.configuration.${path}`;
  return new ApiError("API_CONFIG_INVALID", message, { path: full });
}
