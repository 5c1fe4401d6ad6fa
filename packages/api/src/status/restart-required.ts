import { canonicalForm } from "../canonical-form.ts";
import type { ClusterConfig } from "../config/index.ts";
import { networkRestartRequired } from "../network/restart-required.ts";
import type {
  Disk,
  VirtualMachine,
  VirtualMachineCondition,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  Volume,
} from "../schema/index.ts";
import { VirtualMachineInstanceSpecSchema } from "../schema/instance/virtual-machine-instance.ts";
import { at, isObject, isSet, type JsonObject, object, objects, text } from "../shape.ts";
import { changedFields } from "./changed-fields.ts";
import { conditionsOf, findCondition, removeCondition, setCondition } from "./conditions.ts";

type Spec = VirtualMachineInstanceSpec;

/** What decides whether a change needs a restart. */
export interface RestartView {
  readonly vm: VirtualMachine;
  readonly vmi?: VirtualMachineInstance | undefined;
  /** The VM's spec when the VMI was created; without it nothing can have changed. */
  readonly startedWith?: VirtualMachine["spec"] | undefined;
  /** With live update, KubeVirt's default, CPU sockets, memory and placement change live. */
  readonly config: Pick<ClusterConfig, "liveUpdate">;
}

/**
 * Whether a VM's template differs from what its VMI was started with in a field that cannot be changed while
 * the guest runs. Both specs must have their instance types applied.
 */
export function isRestartRequired(view: RestartView): boolean {
  const compared = comparedSpecs(view);
  return compared !== undefined && !same(compared.started, compared.wanted);
}

/** The fields that make {@link isRestartRequired} true: `spec.template.spec.domain.cpu.cores`. */
export function restartRequiredFields(view: RestartView): readonly string[] {
  const { started, wanted } = comparedSpecs(view) ?? {};
  return changedFields(started, wanted, "spec.template.spec");
}

/** The VMI's initial values as far as they can still change, and the desired ones; undefined if nothing has changed. */
function comparedSpecs({
  vm,
  vmi,
  startedWith,
  config,
}: RestartView): { readonly started: JsonObject; readonly wanted: JsonObject } | undefined {
  const [before, now] = [at(startedWith, "template", "spec"), at(vm, "spec", "template", "spec")];
  // Most VMs are as they were started, and are looked at often.
  if (!startedWith || same(before, now)) return undefined;
  const wanted = canonicalSpec(now);
  const strategy = text(at(vm, "spec", "updateVolumesStrategy"));
  let started = canonicalSpec(before);
  if (areVolumesLive(started, wanted, strategy)) started = copy(started, wanted, ["volumes"]);
  if (areDisksLive(started, wanted)) started = copy(started, wanted, disksPath);
  if (config.liveUpdate) started = withLiveFields(started, wanted);
  if (vmi && !networkRestartRequired(vm, vmi)) {
    started = copy(started, wanted, ["domain", "devices", "interfaces"]);
    started = copy(started, wanted, ["networks"]);
  }
  started = withStoredUuid(started, wanted, vmi);
  return { started: canonicalSpec(started), wanted };
}

/**
 * A VM's conditions with `RestartRequired` set or removed. Without a spec to compare with, they are returned
 * unchanged.
 */
export function restartRequiredConditions(
  view: RestartView,
  now: string,
): readonly VirtualMachineCondition[] {
  const conditions = conditionsOf<VirtualMachineCondition>(view.vm);
  if (!view.startedWith) return conditions;
  const fields = restartRequiredFields(view);
  if (fields.length === 0) return removeCondition(conditions, "RestartRequired");
  const shown = fields.slice(0, 5).join(", ");
  const message = `a running guest cannot apply the change of ${shown}; restart the VM`;
  return withRestartRequired(conditions, message, now);
}

/**
 * The conditions with `RestartRequired` and this message. If it was due before for another reason, the message changes and
 * the time stays.
 */
export function withRestartRequired(
  conditions: readonly VirtualMachineCondition[],
  message: string,
  now: string,
): readonly VirtualMachineCondition[] {
  const type = "RestartRequired";
  const next = setCondition(conditions, { type, status: "True", message, lastTransitionTime: now });
  if (findCondition(next, type)?.message === message) return next;
  return next.map((each) => (each.type === type ? { ...each, message } : each));
}

const disksPath = ["domain", "devices", "disks"] as const;

function withLiveFields(started: JsonObject, wanted: JsonObject): JsonObject {
  let result = started;
  const bothHaveCpu = isSet(at(started, "domain", "cpu")) && isSet(at(wanted, "domain", "cpu"));
  if (bothHaveCpu) result = copy(result, wanted, ["domain", "cpu", "sockets"]);
  const guest = ["domain", "memory", "guest"] as const;
  if (isSet(at(wanted, ...guest))) result = copy(result, wanted, guest);
  for (const field of ["nodeSelector", "affinity", "tolerations"]) {
    result = copy(result, wanted, [field]);
  }
  return result;
}

/** A firmware UUID that was only recorded after the start is not a change: the guest has it. */
function withStoredUuid(
  started: JsonObject,
  wanted: JsonObject,
  vmi: VirtualMachineInstance | undefined,
): JsonObject {
  const running = at(vmi, "spec", "domain", "firmware");
  const stored = at(wanted, "domain", "firmware");
  if (!isSet(running) || !isSet(stored) || text(at(running, "uuid")) !== text(at(stored, "uuid"))) {
    return started;
  }
  return copy(started, wanted, ["domain", "firmware", "uuid"]);
}

/** Whether volumes were only added or removed as hotplug volumes, or are replaced by a migration. */
function areVolumesLive(started: JsonObject, wanted: JsonObject, strategy: string): boolean {
  const left = byName(objects<Volume>(started["volumes"]));
  for (const volume of objects<Volume>(wanted["volumes"])) {
    const before = left.get(text(volume.name));
    const migrates = strategy === "Migration" && isClaim(volume);
    const isLive = isHotpluggable(volume) || (before && (migrates || same(before, volume)));
    if (!isLive) return false;
    left.delete(text(volume.name));
  }
  return [...left.values()].every(isHotpluggable);
}

/** Whether only disks of hotplug volumes were added or removed, and no CD-ROM drive. */
function areDisksLive(started: JsonObject, wanted: JsonObject): boolean {
  const left = byName(objects<Disk>(at(started, ...disksPath)));
  const volumesBefore = byName(objects<Volume>(started["volumes"]));
  const volumesNow = byName(objects<Volume>(wanted["volumes"]));
  for (const disk of objects<Disk>(at(wanted, ...disksPath))) {
    const name = text(disk.name);
    const before = left.get(name);
    const isLive = isHotpluggable(volumesNow.get(name)) || (before && same(before, disk));
    if (!isLive) return false;
    left.delete(name);
  }
  return [...left].every(([name, disk]) => {
    const volume = volumesBefore.get(name);
    return (!volume || isHotpluggable(volume)) && !isSet(disk.cdrom);
  });
}

/** Whether a volume can be added and removed while the guest runs. */
export function isHotpluggable(volume: Volume | undefined): boolean {
  return (
    at(volume, "persistentVolumeClaim", "hotpluggable") === true ||
    at(volume, "dataVolume", "hotpluggable") === true ||
    at(volume, "memoryDump", "hotpluggable") === true
  );
}

function isClaim(volume: Volume): boolean {
  return isSet(volume.persistentVolumeClaim) || isSet(volume.dataVolume);
}

function canonicalSpec(spec: unknown): JsonObject {
  const canonical = canonicalForm(spec, VirtualMachineInstanceSpecSchema);
  return isObject(canonical) ? withoutEmptyParts(canonical) : {};
}

/** KubeVirt's objects always have these parts, so empty ones mean nothing. */
function withoutEmptyParts(spec: JsonObject): JsonObject {
  const domain = object(spec["domain"]);
  const { resources, devices, features, ...rest } = domain as JsonObject & Partial<Spec["domain"]>;
  return {
    ...spec,
    domain: {
      ...rest,
      ...(isEmptyObject(resources) ? {} : { resources }),
      ...(isEmptyObject(devices) ? {} : { devices }),
      ...(features ? { features: withoutEmptyAcpi(features) } : {}),
    },
  };
}

function withoutEmptyAcpi(features: unknown): unknown {
  const { acpi, ...rest } = object(features) as JsonObject & { acpi?: unknown };
  return isEmptyObject(acpi) ? rest : { acpi, ...rest };
}

function isEmptyObject(value: unknown): boolean {
  return !isObject(value) || Object.keys(value).length === 0;
}

/** `target` with the value of `source` at this path, or without it if there is none. */
function copy(target: JsonObject, source: JsonObject, path: readonly string[]): JsonObject {
  const [field, ...rest] = path;
  if (field === undefined) return target;
  if (rest.length > 0) {
    return { ...target, [field]: copy(object(target[field]), object(source[field]), rest) };
  }
  const { [field]: _, ...others } = target;
  return isSet(source[field]) ? { ...others, [field]: source[field] } : others;
}

function byName<T extends { readonly name?: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [text(item.name), item]));
}

/** Exact for values in canonical form, where the order of fields is fixed; others may be the same nevertheless. */
function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
