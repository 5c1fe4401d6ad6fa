import type { ClusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { LauncherPodError } from "./launcher-pod-error.ts";

/** A container beside the launcher that may change the domain or serve a network. */
export interface HookSidecar {
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  /** A script from a ConfigMap, mounted as the hook's program. */
  readonly configMap?: { readonly name: string; readonly key: string; readonly hookPath: string };
  /** A claim, mounted here and, if `sharedComputePath` is set, in the compute container. */
  readonly pvc?: {
    readonly name: string;
    readonly volumePath: string;
    readonly sharedComputePath?: string;
  };
  /** The network binding plugin that it belongs to. */
  readonly plugin?: string;
  /** Whether it reads the Pod's network devices. */
  readonly readsDeviceInfo?: boolean;
}

/** The sidecars that a VMI asks for in its annotation, then those of its network binding plugins. */
export function hookSidecarsOf(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  { annotations }: Names,
): HookSidecar[] {
  const sidecars = annotatedSidecars(vmi, annotations.hookSidecars);
  sidecars.push(...pluginSidecars(vmi, config));
  return sidecars;
}

function annotatedSidecars({ metadata }: VirtualMachineInstance, key: string): HookSidecar[] {
  const text = metadata?.annotations?.[key];
  if (text === undefined) return [];
  const path = `metadata.annotations.${key}`;
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    const message = `${path} is not JSON; use a list of objects with image, command, args, configMap and pvc`;
    throw new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", message, { path, cause });
  }
  if (list === null) return [];
  if (!Array.isArray(list)) throw wrongType(path, "list");
  return list.map((entry: unknown, index) => readSidecar(entry, `${path}[${index}]`));
}

function readSidecar(entry: unknown, at: string): HookSidecar {
  const fields = readObject(entry, at);
  return {
    ...readTexts(fields, at, ["image", "imagePullPolicy"]),
    ...readTextLists(fields, at, ["command", "args"]),
    ...readConfigMap(fields.get("configmap"), `${at}.configMap`),
    ...readClaim(fields.get("pvc"), `${at}.pvc`),
  };
}

function readConfigMap(value: unknown, at: string): Pick<HookSidecar, "configMap"> {
  if (value === undefined || value === null) return {};
  const {
    name = "",
    key = "",
    hookPath = "",
  } = readTexts(readObject(value, at), at, ["name", "key", "hookPath"]);
  return { configMap: { name, key, hookPath } };
}

function readClaim(value: unknown, at: string): Pick<HookSidecar, "pvc"> {
  if (value === undefined || value === null) return {};
  const texts = readTexts(readObject(value, at), at, ["name", "volumePath", "sharedComputePath"]);
  const { name = "", volumePath = "", sharedComputePath } = texts;
  return { pvc: { name, volumePath, ...(sharedComputePath ? { sharedComputePath } : {}) } };
}

/** The values of an object by their names in lower case. */
type Fields = ReadonlyMap<string, unknown>;

/** As Go reads JSON: names are case-insensitive, and of equal names the last one counts. */
function readObject(value: unknown, at: string): Fields {
  if (value === null) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) throw wrongType(at, "object");
  return new Map(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]));
}

function readTexts<K extends string>(
  fields: Fields,
  at: string,
  names: readonly K[],
): Partial<Record<K, string>> {
  const texts: Partial<Record<K, string>> = {};
  for (const name of names) {
    const value = fields.get(name.toLowerCase());
    if (value === undefined || value === null || value === "") continue;
    if (typeof value !== "string") throw wrongType(`${at}.${name}`, "string");
    texts[name] = value;
  }
  return texts;
}

function readTextLists<K extends string>(
  fields: Fields,
  at: string,
  names: readonly K[],
): Partial<Record<K, string[]>> {
  const lists: Partial<Record<K, string[]>> = {};
  for (const name of names) {
    const value = fields.get(name.toLowerCase());
    if (value === undefined || value === null) continue;
    const texts = Array.isArray(value) ? value.map((item: unknown) => item ?? "") : [value];
    if (!Array.isArray(value) || !texts.every((item) => typeof item === "string")) {
      throw wrongType(`${at}.${name}`, "list of strings");
    }
    if (texts.length > 0) lists[name] = texts;
  }
  return lists;
}

function wrongType(at: string, expected: string): LauncherPodError {
  const message = `${at} is not a ${expected}; correct the annotation`;
  return new LauncherPodError("LAUNCHER_POD_FIELD_INVALID", message, { path: at });
}

function pluginSidecars(
  { spec }: VirtualMachineInstance,
  { networkBindings: plugins, imagePullPolicy }: ClusterConfig,
): HookSidecar[] {
  const sidecars: HookSidecar[] = [];
  for (const [index, { binding }] of (spec.domain.devices.interfaces ?? []).entries()) {
    if (!binding) continue;
    const plugin = Object.hasOwn(plugins, binding.name) ? plugins[binding.name] : undefined;
    if (!plugin) throw unknownPlugin(index, binding.name);
    if (!plugin.sidecarImage || sidecars.some((known) => known.plugin === binding.name)) continue;
    sidecars.push({
      image: plugin.sidecarImage,
      imagePullPolicy,
      plugin: binding.name,
      readsDeviceInfo: plugin.downwardAPI === "device-info",
    });
  }
  return sidecars;
}

function unknownPlugin(index: number, name: string): LauncherPodError {
  const at = `spec.domain.devices.interfaces[${index}].binding.name`;
  const message = `${at} is "${name}", which is not in configuration.network.binding; register the plugin there`;
  return new LauncherPodError("LAUNCHER_POD_NOT_FOUND", message, { path: at });
}
