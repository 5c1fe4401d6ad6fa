import { ApiError } from "../api-error.ts";
import type { KubeVirtConfiguration } from "../schema/index.ts";
import { isObject } from "../shape.ts";
import { type DefaultsOfPlatform, defaultConfiguration } from "./default-configuration.ts";
import type { EffectiveConfiguration } from "./effective-configuration.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Fields whose empty value (`0`, `""`, `false`) has a meaning. Elsewhere KubeVirt does not write empty values
 * when it merges a configuration over the defaults, so the default stays.
 */
const keepEmpty: ReadonlySet<string> = new Set([
  "additionalGuestMemoryOverheadRatio",
  "cpuRequest",
  "evictionStrategy",
  "maxCpuSockets",
  "maxGuest",
  "memBalloonStatsPeriod",
  "minimumClusterTSCFrequency",
  "permitBridgeInterfaceOnPodNetwork",
  "permitSlirpInterface",
  "roleAggregationStrategy",
  "virtualMachineInstancesPerNode",
  "vmRolloutStrategy",
]);

/** No path of the configuration is this deep; deeper input is not walked. */
const maxDepth = 64;

/**
 * Merges a configuration over the defaults, as KubeVirt does: objects merge field by field, lists and scalars
 * replace, `null` and empty values leave the default. The result shares nothing with the input and is frozen.
 *
 * The caller has checked the types. Throws an `ApiError` with `API_CONFIG_INVALID` if an unknown field is
 * nested too deeply.
 */
export function mergeConfiguration(
  configuration: KubeVirtConfiguration,
  platform: DefaultsOfPlatform,
): EffectiveConfiguration {
  const defaults = defaultConfiguration(platform);
  const merged = mergeObjects(defaults as unknown as Json, configuration as Json, "");
  const effective = merged as unknown as EffectiveConfiguration;
  // KubeVirt takes it from the status of its own object, whatever the configuration says.
  effective.architectureConfiguration.defaultArchitecture = platform.defaultArchitecture;
  // If it is not set, it follows the field that it used to be part of.
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
  if (!isObject(current) || !isObject(value)) return copy(value, path, maxDepth);
  const absent = replacedWhole(path);
  if (absent === undefined) return mergeObjects(current, value, path);
  return { ...absent, ...(copy(value, path, maxDepth) as Json) };
}

/** Objects that a configuration replaces instead of extending, with the values of their missing fields. */
function replacedWhole(path: string): Json | undefined {
  if (path.endsWith(".tokenBucketRateLimiter")) return { qps: 0, burst: 0 };
  return path === "developerConfiguration.diskVerification" ? {} : undefined;
}

function copy(value: unknown, path: string, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) throw tooDeep(path);
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

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function tooDeep(field: string): ApiError {
  const path = `spec.configuration.${field}`;
  const message = `${path} is nested more than ${maxDepth} levels deep`;
  return new ApiError("API_CONFIG_INVALID", message, { path });
}
