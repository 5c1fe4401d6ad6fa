import type { Cgroup } from "../cgroups/cgroup.ts";
import { HostError, hasErrno } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { assembleDeviceProgram, encodeInstructions } from "./assemble-device-program.ts";
import * as bpf from "./bpf-calls.ts";
import type { DeviceRule } from "./device-rule.ts";

/** A device filter that is attached to a cgroup. */
export interface AttachedFilter {
  readonly id: number;
  readonly name: string;
}

/** A restarted agent finds the filter of its predecessor by this name. At most 15 bytes. */
export const deviceFilterName = "virtkit_devices";

/** Options of {@link setDeviceFilter}. */
export interface DeviceFilterOptions {
  /**
   * Name of the filter; a filter with the same name is replaced. Default {@link deviceFilterName}.
   */
  readonly name?: string;
  /**
   * ID of someone else's filter to replace, if ours is not attached yet. All filters of a cgroup
   * must allow an access, so ours cannot grant what the container runtime's filter denies.
   */
  readonly takeOver?: number;
}

/** The device filters of a v2 cgroup, without those of its ancestors. */
export function listDeviceFilters(cgroup: Cgroup): AttachedFilter[] {
  using directory = openForBpf(cgroup);
  return filtersOf(directory);
}

function filtersOf(directory: OwnedFd): AttachedFilter[] {
  return bpf.attachedPrograms(directory.fd, directory.what).flatMap((id) => {
    const program = openProgram(id);
    if (!program) return [];
    using handle = program;
    return [{ id, name: bpf.programName(handle.fd, handle.what) }];
  });
}

/**
 * Applies these device rules to a v2 cgroup. The filter that is attached under the same name is
 * replaced atomically, so every access is checked by exactly one of them. Other filters stay. The
 * filter stays when this process ends.
 *
 * @example
 * const disk = { type: "b", major: 8, minor: 16, permissions: "rwm", allow: true } as const;
 * setDeviceFilter(cgroup, initialDeviceRulesForV2([disk]));
 */
export function setDeviceFilter(
  cgroup: Cgroup,
  rules: readonly DeviceRule[],
  { name = deviceFilterName, takeOver }: DeviceFilterOptions = {},
): void {
  checkName(name);
  const instructions = encodeInstructions(assembleDeviceProgram(rules));
  using program = new OwnedFd(bpf.loadDeviceProgram(instructions, name), `program ${name}`);
  using directory = openForBpf(cgroup);
  const old = filtersOf(directory).find((filter) => filter.name === name)?.id ?? takeOver;
  if (old === undefined) {
    bpf.attachDeviceProgram(directory.fd, program.fd, undefined, cgroup.description);
    return;
  }
  using previous = new OwnedFd(bpf.openProgram(old), `program ${old}`);
  bpf.attachDeviceProgram(directory.fd, program.fd, previous.fd, cgroup.description);
}

/** Detaches the filter with this name. False if there is none. */
export function removeDeviceFilter(cgroup: Cgroup, name: string = deviceFilterName): boolean {
  using directory = openForBpf(cgroup);
  const old = filtersOf(directory).find((filter) => filter.name === name);
  if (!old) return false;
  using program = new OwnedFd(bpf.openProgram(old.id), `program ${old.id}`);
  bpf.detachDeviceProgram(directory.fd, program.fd, cgroup.description);
  return true;
}

function checkName(name: string): void {
  if (/^[A-Za-z0-9_.]{1,15}$/.test(name)) return;
  const message = `name is ${JSON.stringify(name)}; use 1 to 15 letters, digits, "_" or "."`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "name" });
}

/** bpf(2) needs a descriptor that was really opened, not one opened as a path. */
function openForBpf(cgroup: Cgroup): OwnedFd {
  if (cgroup.version === 2) return cgroup.openDirectory();
  const message = `${cgroup.description} is a v1 cgroup; its device rules are files`;
  throw new HostError("HOST_ARGUMENT_INVALID", message, { path: cgroup.description });
}

function openProgram(id: number): OwnedFd | undefined {
  try {
    return new OwnedFd(bpf.openProgram(id), `program ${id}`);
  } catch (error) {
    // Detached and freed since it was listed.
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
