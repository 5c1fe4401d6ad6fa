import { posix } from "node:path";
import { HostError } from "../host-error.ts";
import { type DeviceRule, type DeviceRuleVersion, hostDevicePermissions } from "./device-rule.ts";

/** The type of a path below the launcher's root; `other` is anything that is not a device. */
export type DeviceEntry =
  | { readonly type: "char" | "block"; readonly major: number; readonly minor: number }
  | { readonly type: "other" };

/** Looks into the launcher's file system. The real one uses safe paths; tests use a table. */
export interface DeviceDirectory {
  /** Undefined if nothing has that path; throws if it cannot tell. */
  stat(path: string): DeviceEntry | undefined;
  /**
   * Names of a directory's entries, and whether each is a directory; undefined if the directory
   * does not exist.
   */
  list(path: string): readonly { readonly name: string; readonly directory: boolean }[] | undefined;
}

/** The devices that a guest was started with. */
export interface LauncherDevices {
  /** Volumes that may be block devices at `/dev/<name>`; files and missing ones get no rule. */
  readonly volumes: readonly string[];
  readonly randomNumbers?: boolean;
  readonly vsock?: boolean;
  /** Name of the hypervisor's device below `/dev`. */
  readonly hypervisor: string;
  /** Whether the guest may run without that device. */
  readonly allowEmulation?: boolean;
  readonly version: DeviceRuleVersion;
}

/** Where device plugins put the devices that they assign; all devices found there are allowed. */
const assignedDevices: readonly string[] = ["/dev/vfio", "/dev/bus/usb"];

/** Deeper than any device plugin goes; keeps a launcher from making the agent descend forever. */
const maxDepth = 16;

/**
 * Allow rules for the devices that a launcher was started with, so that they survive when its
 * device filter is replaced. Throws if a required device is missing (`path` names it), or if a
 * lookup fails.
 */
export function launcherDeviceRules(
  devices: LauncherDevices,
  directory: DeviceDirectory,
): DeviceRule[] {
  const rules: DeviceRule[] = [];
  const add = (path: string, permissions: string): boolean => {
    const entry = directory.stat(path);
    if (entry && entry.type !== "other") rules.push(allow(entry, permissions));
    return entry !== undefined;
  };
  for (const volume of devices.volumes) add(posix.join("/dev", volume), "rwm");
  const needed = [
    ...(devices.randomNumbers ? ["/dev/urandom"] : []),
    ...(devices.vsock ? ["/dev/vhost-vsock"] : []),
  ];
  for (const path of needed) if (!add(path, "rwm")) throw missing(path);
  const hypervisor = `/dev/${devices.hypervisor}`;
  if (!addHypervisor() && !devices.allowEmulation) throw missing(hypervisor);
  for (const path of assignedDevices) rules.push(...rulesBelow(path, directory, maxDepth));
  return rules;

  function addHypervisor(): boolean {
    try {
      return add(hypervisor, hostDevicePermissions(devices.version));
    } catch (error) {
      if (devices.allowEmulation) return false;
      throw error;
    }
  }
}

function rulesBelow(path: string, directory: DeviceDirectory, depth: number): DeviceRule[] {
  const entries = directory.list(path) ?? [];
  if (depth === 0) {
    const message = `${path} has directories more than ${maxDepth} levels deep; refused`;
    throw new HostError("HOST_LIMIT_EXCEEDED", message, { path });
  }
  const sorted = [...entries].sort((a, b) =>
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  );
  return sorted.flatMap(({ name, directory: isDirectory }) => {
    const below = posix.join(path, name);
    if (isDirectory) return rulesBelow(below, directory, depth - 1);
    const entry = directory.stat(below);
    if (!entry) throw missing(below);
    return entry.type === "other" ? [] : [allow(entry, "rwm")];
  });
}

function allow(entry: Exclude<DeviceEntry, { type: "other" }>, permissions: string): DeviceRule {
  const { major, minor } = entry;
  return { type: entry.type === "char" ? "c" : "b", major, minor, permissions, allow: true };
}

function missing(path: string): HostError {
  const message = `${path} does not exist in the launcher; is its device plugin running?`;
  return new HostError("HOST_ARGUMENT_INVALID", message, { path, errno: "ENOENT" });
}
