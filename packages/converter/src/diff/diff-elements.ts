import type { Domain } from "../model/domain.ts";
import type { Comparison, DomainChange } from "./domain-change.ts";
import { type ValueDifference, valueDifferences } from "./value-differences.ts";

/** Everything without its own kind of change: the guest must be restarted for it. */
export function diffElements(
  running: Domain,
  wanted: Domain,
  { filledIn }: Comparison,
): DomainChange[] {
  const asked = filledIn ? withoutDropped(wanted) : wanted;
  return valueDifferences(comparable(running), comparable(asked), "", filledIn)
    .filter((difference) => !(filledIn && isResolved(difference)))
    .map(({ path, from, to }) => ({
      kind: "change-element",
      path,
      from,
      to,
      effect: "needs-restart",
      summary: summaryOf({ path, from, to }),
      reason: "it is part of the machine that the guest was started with",
    }));
}

function summaryOf({ path, from, to }: ValueDifference): string {
  if (from === undefined) return `add ${path}${isScalar(to) ? `: ${show(to)}` : ""}`;
  if (to === undefined) return `remove ${path}`;
  return isScalar(from) && isScalar(to)
    ? `change ${path} from ${show(from)} to ${show(to)}`
    : `change ${path}`;
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object";
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function comparable(domain: Domain): object {
  const {
    // Compared separately.
    memory: _memory,
    maxMemory: _maxMemory,
    currentMemory: _currentMemory,
    vcpu: _vcpu,
    vcpus: _vcpus,
    cputune: _cputune,
    metadata: _metadata,
    // A prefix, declared whether or not it is used.
    xmlnsQemu: _xmlnsQemu,
    ...own
  } = domain;
  const { disks: _d, interfaces: _i, hostDevices: _h, ...devices } = domain.devices;
  const { topology, ...cpu } = domain.cpu;
  const { sockets: _sockets, ...core } = topology ?? {};
  return { ...own, devices, cpu: { ...cpu, topology: core } };
}

/**
 * Without what libvirt does not return as requested: the first serial console, which mirrors the serial port
 * whatever its type, and empty strings of the firmware.
 */
function withoutDropped(wanted: Domain): Domain {
  const { devices, sysinfo } = wanted;
  const isImage = (at: number, type: string | undefined): boolean =>
    at === 0 && type === "serial" && devices.serials.length > 0;
  const consoles = devices.consoles.filter(({ target }, at) => !isImage(at, target?.type));
  const kept = { ...wanted, devices: { ...devices, consoles } };
  if (!sysinfo) return kept;
  const said = sysinfo.system.entries.filter(({ value }) => value !== "");
  return { ...kept, sysinfo: { ...sysinfo, system: { ...sysinfo.system, entries: said } } };
}

/** Where libvirt reports what a name became: the machine's version, the host's CPU. */
function isResolved({ path, from, to }: ValueDifference): boolean {
  if (path === "os.type.machine") {
    return String(from)
      .replace(/^pc-/, "")
      .startsWith(`${String(to)}-`);
  }
  return path === "cpu.mode" && to === "host-model" && from === "custom";
}
