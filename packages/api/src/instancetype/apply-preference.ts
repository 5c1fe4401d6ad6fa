import type { VirtualMachinePreferenceSpec } from "../schema/index.ts";
import { at, isSet, object, objects, text } from "../shape.ts";
import type { InstancetypeConflict } from "./conflict.ts";
import { applyDevicePreferences } from "./device-preferences.ts";
import { type Draft, isBlank, part, setIfEmpty, setIfMissing } from "./spec-draft.ts";

type Preference = VirtualMachinePreferenceSpec;

/** Hyper-V enlightenments have the same names on both sides. */
const enlightenments = [
  "evmcs",
  "frequencies",
  "ipi",
  "reenlightenment",
  "relaxed",
  "reset",
  "runtime",
  "spinlocks",
  "synic",
  "synictimer",
  "tlbflush",
  "vapic",
  "vpindex",
  "vendorid",
];

/**
 * Fills in what a spec does not set. Two preferences win over the spec, as in KubeVirt: ACPI, and whether
 * hotplug is off.
 *
 * @returns why the preference does not fit this spec; the draft must not be used then
 */
export function applyPreference(
  spec: Draft,
  annotations: Record<string, string>,
  preference: Preference,
  path: readonly string[],
): InstancetypeConflict | undefined {
  const problem = applyCpuFeatures(spec, preference, path);
  if (problem) return problem;
  if (isSet(preference.devices)) applyDevicePreferences(spec, object(preference.devices));
  if (isSet(preference.features)) applyFeatures(part(spec, "domain", "features"), preference);
  if (isSet(preference.firmware)) applyFirmware(spec, preference);
  const machineType = text(at(preference, "machine", "preferredMachineType"));
  if (machineType) setIfEmpty(part(spec, "domain", "machine"), "type", machineType);
  if (isSet(preference.clock)) applyClock(part(spec, "domain", "clock"), preference);
  setIfEmpty(spec, "subdomain", preference.preferredSubdomain);
  setIfMissing(
    spec,
    "terminationGracePeriodSeconds",
    preference.preferredTerminationGracePeriodSeconds,
  );
  setIfEmpty(spec, "architecture", preference.preferredArchitecture);
  for (const [key, value] of Object.entries(object(preference.annotations))) {
    if (Object.hasOwn(annotations, key)) continue;
    Object.defineProperty(annotations, key, { value, enumerable: true, configurable: true });
  }
  if (isSet(preference.preferredLaunchSecurity)) {
    setIfMissing(part(spec, "domain"), "launchSecurity", preference.preferredLaunchSecurity);
  }
  return undefined;
}

function applyCpuFeatures(
  spec: Draft,
  preference: Preference,
  path: readonly string[],
): InstancetypeConflict | undefined {
  const preferred = objects(at(preference, "cpu", "preferredCPUFeatures"));
  if (preferred.length === 0) return undefined;
  if (!isSet(at(spec, "domain", "cpu"))) {
    const field = [...path, "domain", "cpu"].join(".");
    const message = `${field} is missing, but the preference asks for CPU features; choose an instance type or set it`;
    return { field, message };
  }
  const cpu = part(spec, "domain", "cpu");
  const present = Array.isArray(cpu["features"]) ? cpu["features"] : [];
  const names = new Set(objects(present).map(({ name }) => name));
  const added = preferred.filter(({ name }) => !names.has(name));
  if (added.length > 0) cpu["features"] = [...present, ...added];
  return undefined;
}

function applyFeatures(features: Draft, preference: Preference): void {
  const preferred = object(preference.features);
  if (isSet(preferred["preferredAcpi"])) features["acpi"] = preferred["preferredAcpi"];
  setIfMissing(features, "apic", preferred["preferredApic"]);
  if (isSet(preferred["preferredHyperv"])) {
    const hyperv = part(features, "hyperv");
    for (const name of enlightenments) {
      setIfMissing(hyperv, name, at(preferred, "preferredHyperv", name));
    }
  }
  setIfMissing(features, "kvm", preferred["preferredKvm"]);
  setIfMissing(features, "pvspinlock", preferred["preferredPvspinlock"]);
  setIfMissing(features, "smm", preferred["preferredSmm"]);
}

/** A boot loader in the spec stays; the older EFI fields count only without the newer one. */
function applyFirmware(spec: Draft, preference: Preference): void {
  const preferred = object(preference.firmware);
  const loader = part(spec, "domain", "firmware", "bootloader");
  const isOpen = (): boolean => !isSet(loader["bios"]) && !isSet(loader["efi"]);
  if (preferred["preferredUseBios"] === true && isOpen()) loader["bios"] = {};
  if (isSet(preferred["preferredUseBiosSerial"]) && isSet(loader["bios"])) {
    setIfMissing(part(loader, "bios"), "useSerial", preferred["preferredUseBiosSerial"]);
  }
  if (isOpen() && isSet(preferred["preferredEfi"])) {
    loader["efi"] = preferred["preferredEfi"];
    return;
  }
  if (preferred["preferredUseEfi"] === true && isOpen()) loader["efi"] = {};
  if (isSet(preferred["preferredUseSecureBoot"]) && isSet(loader["efi"])) {
    setIfMissing(part(loader, "efi"), "secureBoot", preferred["preferredUseSecureBoot"]);
  }
}

function applyClock(clock: Draft, preference: Preference): void {
  const offset = at(preference, "clock", "preferredClockOffset");
  if (isSet(offset) && !isSet(clock["utc"]) && isBlank(clock["timezone"])) {
    setIfMissing(clock, "utc", at(offset, "utc"));
    setIfMissing(clock, "timezone", at(offset, "timezone"));
  }
  setIfMissing(clock, "timer", at(preference, "clock", "preferredTimer"));
}
