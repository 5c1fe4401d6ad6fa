import type {
  VirtualMachineInstanceSpec,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";
import { at, entry, isObject, isSet, number, object, text } from "../shape.ts";
import { applyPreference } from "./apply-preference.ts";
import { conflictAt, type InstancetypeConflict } from "./conflict.ts";
import { guestTopology } from "./guest-topology.ts";
import { overcommittedRequest, quantityOf } from "./instancetype-memory.ts";
import { type Draft, draftOf, isBlank, part } from "./spec-draft.ts";

/** What an instance type and a preference are applied to. */
export interface ApplyInput {
  readonly spec: VirtualMachineInstanceSpec;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly instancetype?: VirtualMachineInstancetypeSpec | undefined;
  readonly preference?: VirtualMachinePreferenceSpec | undefined;
  /** The path of the spec in its object, for conflicts. Default: `["spec", "template", "spec"]`. */
  readonly path?: readonly string[] | undefined;
}

/** The result. If there are conflicts or invalid values, nothing is applied. */
export type ApplyResult =
  | {
      readonly kind: "applied";
      readonly spec: VirtualMachineInstanceSpec;
      readonly annotations: Readonly<Record<string, string>> | undefined;
    }
  | { readonly kind: "conflicts"; readonly conflicts: readonly InstancetypeConflict[] }
  /** What makes KubeVirt crash. */
  | { readonly kind: "invalid"; readonly problem: InstancetypeConflict };

/**
 * Applies an instance type and a preference. The instance type decides: a VM that sets the same field conflicts
 * with it. The preference fills in what is not set. The spec that is passed in is not changed.
 *
 * @example
 * ```ts
 * const result = applyInstancetype({ spec, instancetype: { cpu: { guest: 2 }, memory: { guest: "4Gi" } } });
 * if (result.kind === "applied") result.spec.domain.memory?.guest; // "4Gi"
 * ```
 */
export function applyInstancetype(input: ApplyInput): ApplyResult {
  const { instancetype, preference, path = ["spec", "template", "spec"] } = input;
  const isNothing = !isObject(instancetype) && !isObject(preference);
  if (isNothing) return { kind: "applied", spec: input.spec, annotations: input.annotations };
  const spec = draftOf(input.spec);
  const annotations = draftOf(input.annotations) as Record<string, string>;
  if (isObject(instancetype)) {
    const conflicts = [
      ...conflictsOf(spec, instancetype, path),
      ...applyAnnotations(annotations, instancetype.annotations),
    ];
    if (conflicts.length > 0) return { kind: "conflicts", conflicts };
    const problem = applyFields(spec, instancetype, preference);
    if (problem) return { kind: "invalid", problem };
  }
  const problem = isObject(preference)
    ? applyPreference(spec, annotations, preference, path)
    : undefined;
  if (problem) return { kind: "invalid", problem };
  return { kind: "applied", spec: spec as unknown as VirtualMachineInstanceSpec, annotations };
}

type Instancetype = VirtualMachineInstancetypeSpec;

/** Fields that conflict if both sides set them: path in the spec, path in the instance type. */
const exclusive: readonly (readonly [spec: string, instancetype: string])[] = [
  ["domain.ioThreads.supplementalPoolThreadCount", "ioThreads.supplementalPoolThreadCount"],
  ["domain.ioThreadsPolicy", "ioThreadsPolicy"],
  ["domain.launchSecurity", "launchSecurity"],
];

function conflictsOf(
  spec: Draft,
  instancetype: Instancetype,
  path: readonly string[],
): InstancetypeConflict[] {
  const found: string[] = [];
  const clash = (field: string, mine: boolean, theirs = true): void => {
    if (mine && theirs) found.push(field);
  };
  clash("nodeSelector", isSet(spec["nodeSelector"]), isSet(instancetype.nodeSelector));
  clash("schedulerName", !isBlank(spec["schedulerName"]), !isBlank(instancetype.schedulerName));
  cpuConflicts(spec, instancetype, clash);
  const memory = memoryConflict(spec, instancetype);
  if (memory) found.push(memory);
  for (const [mine, theirs] of exclusive) {
    clash(mine, isSet(at(spec, ...mine.split("."))), isSet(at(instancetype, ...theirs.split("."))));
  }
  for (const list of ["gpus", "hostDevices"] as const) {
    clash(
      `domain.devices.${list}`,
      hasItems(at(spec, "domain", "devices", list)),
      hasItems(instancetype[list]),
    );
  }
  return found.map((field) => conflictAt(...path, field));
}

function cpuConflicts(
  spec: Draft,
  instancetype: Instancetype,
  clash: (field: string, mine: boolean, theirs?: boolean) => void,
): void {
  const cpu = object(at(spec, "domain", "cpu"));
  for (const kind of ["requests", "limits"]) {
    const field = `domain.resources.${kind}.cpu`;
    clash(field, isSet(at(spec, "domain", "resources", kind, "cpu")));
  }
  for (const field of ["sockets", "cores", "threads"]) {
    clash(`domain.cpu.${field}`, number(cpu[field]) !== 0);
  }
  const theirs = (field: string): boolean => isSet(at(instancetype, "cpu", field));
  clash("domain.cpu.model", !isBlank(cpu["model"]), theirs("model"));
  // The instance type's spelling is in the message; the spec's field is `dedicatedCpuPlacement`.
  clash(
    "domain.cpu.dedicatedCPUPlacement",
    cpu["dedicatedCpuPlacement"] === true,
    theirs("dedicatedCPUPlacement"),
  );
  const isolates = cpu["isolateEmulatorThread"] === true;
  clash("domain.cpu.isolateEmulatorThread", isolates, theirs("isolateEmulatorThread"));
  for (const field of ["numa", "realtime"]) {
    clash(`domain.cpu.${field}`, isSet(cpu[field]), theirs(field));
  }
}

/** Only the first memory conflict is reported. */
function memoryConflict(spec: Draft, instancetype: Instancetype): string | undefined {
  const mine = (...path: string[]): boolean => isSet(at(spec, "domain", ...path));
  const theirs = (field: string): boolean => isSet(at(instancetype, "memory", field));
  if (mine("memory", "guest")) return "domain.memory.guest";
  for (const field of ["hugepages", "maxGuest"]) {
    if (mine("memory", field) && theirs(field)) return `domain.memory.${field}`;
  }
  for (const kind of ["requests", "limits"]) {
    if (mine("resources", kind, "memory")) return `domain.resources.${kind}.memory`;
  }
  return undefined;
}

function applyFields(
  spec: Draft,
  instancetype: Instancetype,
  preference: VirtualMachinePreferenceSpec | undefined,
): InstancetypeConflict | undefined {
  const copy = (target: Draft, field: string, value: unknown): void => {
    if (isSet(value)) target[field] = value;
  };
  copy(spec, "nodeSelector", instancetype.nodeSelector);
  if (!isBlank(instancetype.schedulerName)) copy(spec, "schedulerName", instancetype.schedulerName);
  const problem = applyCpu(part(spec, "domain", "cpu"), instancetype, preference);
  if (problem) return problem;
  applyMemory(part(spec, "domain"), instancetype);
  const domain = part(spec, "domain");
  const threads = at(instancetype, "ioThreads", "supplementalPoolThreadCount");
  if (isSet(threads)) part(domain, "ioThreads")["supplementalPoolThreadCount"] = threads;
  copy(domain, "ioThreadsPolicy", instancetype.ioThreadsPolicy);
  copy(domain, "launchSecurity", instancetype.launchSecurity);
  for (const list of ["gpus", "hostDevices"] as const) {
    if (hasItems(instancetype[list])) part(domain, "devices")[list] = instancetype[list];
  }
  return undefined;
}

function applyCpu(
  cpu: Draft,
  instancetype: Instancetype,
  preference: VirtualMachinePreferenceSpec | undefined,
): InstancetypeConflict | undefined {
  const theirs = object(instancetype.cpu);
  for (const field of ["model", "isolateEmulatorThread", "numa", "realtime", "maxSockets"]) {
    if (isSet(theirs[field])) cpu[field] = theirs[field];
  }
  if (isSet(theirs["dedicatedCPUPlacement"])) {
    cpu["dedicatedCpuPlacement"] = theirs["dedicatedCPUPlacement"];
  }
  const topology = guestTopology(number(theirs["guest"]), preference);
  if (!topology) {
    const field = "preference.spec.cpu.spreadOptions.ratio";
    return { field, message: `${field} is 0, so vCPUs cannot be spread by it; use 1 or more` };
  }
  Object.assign(cpu, topology);
  return undefined;
}

function applyMemory(domain: Draft, instancetype: Instancetype): void {
  const theirs = object(instancetype.memory);
  const memory = part(domain, "memory");
  const guest = quantityOf(theirs["guest"]);
  memory["guest"] = guest?.toString() ?? "0";
  for (const field of ["hugepages", "maxGuest"]) {
    if (isSet(theirs[field])) memory[field] = theirs[field];
  }
  const percent = number(theirs["overcommitPercent"]);
  if (guest && percent > 0) {
    const request = overcommittedRequest(guest, percent);
    part(domain, "resources", "requests")["memory"] = request.toString();
  }
}

/** Adds annotations; an existing one with another value conflicts. */
function applyAnnotations(target: Record<string, string>, source: unknown): InstancetypeConflict[] {
  const conflicts: InstancetypeConflict[] = [];
  for (const key of Object.keys(object(source)).sort()) {
    const present = entry(target, key);
    const value = text(object(source)[key]);
    if (present === undefined) {
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true });
    } else if (present !== value) conflicts.push(conflictAt("annotations", key));
  }
  return conflicts;
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
