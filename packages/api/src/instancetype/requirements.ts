import type {
  VirtualMachineInstanceSpec,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";
import { at, isObject, isSet, number, text } from "../shape.ts";
import { quantityOf } from "./instancetype-memory.ts";
import { preferredTopology, spreadOptions } from "./preferred-topology.ts";

/** What a preference demands and the VM does not have. */
export interface UnmetRequirement {
  readonly message: string;
  /** The fields to blame. */
  readonly fields: readonly string[];
}

const cpuPath = "spec.template.spec.domain.cpu";

type Instancetype = VirtualMachineInstancetypeSpec | undefined;
type Preference = VirtualMachinePreferenceSpec | undefined;

/** The first of CPU, memory and architecture that a preference demands and does not get. */
export function unmetRequirement(
  instancetype: Instancetype,
  preference: Preference,
  spec: VirtualMachineInstanceSpec,
): UnmetRequirement | undefined {
  const requirements = at(preference, "requirements");
  return (
    (isSet(at(requirements, "cpu")) ? unmetCpu(instancetype, preference, spec) : undefined) ??
    (isSet(at(requirements, "memory")) ? unmetMemory(instancetype, preference, spec) : undefined) ??
    unmetArchitecture(preference, spec)
  );
}

function unmetCpu(
  instancetype: Instancetype,
  preference: Preference,
  spec: VirtualMachineInstanceSpec,
): UnmetRequirement | undefined {
  const required = number(at(preference, "requirements", "cpu", "guest"));
  if (isObject(instancetype)) {
    const provided = number(at(instancetype, "cpu", "guest"));
    if (provided >= required) return undefined;
    return {
      message: `insufficient CPU resources of ${provided} vCPU provided by instance type, preference requires ${required} vCPU`,
      fields: ["spec.instancetype"],
    };
  }
  const cpu = at(spec, "domain", "cpu");
  if (!isSet(cpu)) {
    return {
      message: `no CPU resources provided by VirtualMachine, preference requires ${required} vCPU`,
      fields: [cpuPath],
    };
  }
  const counted = countedParts(preference);
  if (!counted) return undefined;
  const provided = product(counted.parts.map((field) => number(at(cpu, field))));
  if (provided >= required) return undefined;
  return {
    message: `insufficient CPU resources of ${provided} vCPU provided by VirtualMachine, preference requires ${required} vCPU provided as ${counted.words}`,
    fields: counted.parts.map((field) => `${cpuPath}.${field}`),
  };
}

/** The parts of the topology that count; a topology that nobody knows demands nothing. */
function countedParts(
  preference: Preference,
): { readonly parts: readonly string[]; readonly words: string } | undefined {
  const topology = preferredTopology(preference);
  switch (topology) {
    case "threads":
    case "cores":
    case "sockets":
      return { parts: [topology], words: topology };
    case "any":
      return { parts: ["cores", "sockets", "threads"], words: "cores, sockets and threads" };
    case "spread":
      return spreadParts(spreadOptions(preference).across);
    case "unknown":
      return undefined;
  }
}

function spreadParts(across: string): {
  readonly parts: readonly string[];
  readonly words: string;
} {
  const parts: Readonly<Record<string, readonly string[]>> = {
    SocketsCores: ["sockets", "cores"],
    CoresThreads: ["cores", "threads"],
    SocketsCoresThreads: ["sockets", "cores", "threads"],
  };
  return { parts: (Object.hasOwn(parts, across) ? parts[across] : undefined) ?? [], words: across };
}

/** In 32 bits, as the fields are; no parts provide nothing. */
function product(factors: readonly number[]): number {
  return factors.length === 0 ? 0 : factors.reduce((a, b) => Math.imul(a, b) >>> 0, 1);
}

function unmetMemory(
  instancetype: Instancetype,
  preference: Preference,
  spec: VirtualMachineInstanceSpec,
): UnmetRequirement | undefined {
  const required = quantityOf(at(preference, "requirements", "memory", "guest"));
  const own = at(spec, "domain", "memory", "guest");
  const provided = quantityOf(own ?? at(instancetype, "memory", "guest") ?? "0");
  if (!required || (provided && provided.cmp(required) >= 0)) return undefined;
  const [by, field] = isObject(instancetype)
    ? ["instance type", "spec.instancetype"]
    : ["VirtualMachine", "spec.template.spec.domain.memory"];
  return {
    message: `insufficient Memory resources of ${provided ?? "0"} provided by ${by}, preference requires ${required}`,
    fields: [field],
  };
}

function unmetArchitecture(
  preference: Preference,
  spec: VirtualMachineInstanceSpec,
): UnmetRequirement | undefined {
  const required = at(preference, "requirements", "architecture");
  const provided = text(at(spec, "architecture"));
  if (!isSet(required) || provided === text(required)) return undefined;
  return {
    message: `preference requires architecture ${text(required)} but ${provided} is being requested`,
    fields: ["spec.template.spec.architecture"],
  };
}
