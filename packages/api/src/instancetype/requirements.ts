import type {
  VirtualMachineInstanceSpec,
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from "../schema/index.ts";
import { quote } from "../schema/issue.ts";
import { at, isObject, isSet, number, text } from "../shape.ts";
import { quantityOf } from "./instancetype-memory.ts";
import { preferredTopology, spreadOptions } from "./preferred-topology.ts";

/** What a preference requires but the VM does not have. */
export interface UnmetRequirement {
  readonly message: string;
  /** The fields at fault. */
  readonly fields: readonly string[];
}

const cpuPath = "spec.template.spec.domain.cpu";

type Instancetype = VirtualMachineInstancetypeSpec | undefined;
type Preference = VirtualMachinePreferenceSpec | undefined;

/** The first of CPU, memory and architecture that a preference requires but the VM does not have. */
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
      message: `spec.instancetype has ${provided} vCPUs, but the preference needs ${required}; choose a larger one`,
      fields: ["spec.instancetype"],
    };
  }
  const cpu = at(spec, "domain", "cpu");
  if (!isSet(cpu)) {
    return {
      message: `${cpuPath} is missing, but the preference needs ${required} vCPUs; set it or choose an instance type`,
      fields: [cpuPath],
    };
  }
  const parts = countedParts(preference);
  if (!parts) return undefined;
  const provided = product(parts.map((field) => number(at(cpu, field))));
  if (provided >= required) return undefined;
  return {
    message: `${cpuPath} has ${provided} vCPUs (${parts.join(" x ") || "no part counts"}), but the preference needs ${required}; raise them`,
    fields: parts.map((field) => `${cpuPath}.${field}`),
  };
}

/** The parts of the topology that count; an unknown topology requires nothing. */
function countedParts(preference: Preference): readonly string[] | undefined {
  const topology = preferredTopology(preference);
  switch (topology) {
    case "threads":
    case "cores":
    case "sockets":
      return [topology];
    case "any":
      return ["cores", "sockets", "threads"];
    case "spread":
      return spreadParts(spreadOptions(preference).across);
    case "unknown":
      return undefined;
  }
}

function spreadParts(across: string): readonly string[] {
  const parts: Readonly<Record<string, readonly string[]>> = {
    SocketsCores: ["sockets", "cores"],
    CoresThreads: ["cores", "threads"],
    SocketsCoresThreads: ["sockets", "cores", "threads"],
  };
  return (Object.hasOwn(parts, across) ? parts[across] : undefined) ?? [];
}

/** In 32 bits, like the fields; no parts provide nothing. */
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
  const field = isObject(instancetype) ? "spec.instancetype" : "spec.template.spec.domain.memory";
  return {
    message: `${field} gives ${provided ?? "0"} of memory, but the preference needs ${required}; give more`,
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
  const field = "spec.template.spec.architecture";
  return {
    message: `${field} is ${quote(provided)}, but the preference is for ${quote(text(required))}; change one of them`,
    fields: [field],
  };
}
