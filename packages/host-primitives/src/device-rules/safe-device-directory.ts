import { hasErrno } from "../host-error.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import type { SafeRoot } from "../safe-path/safe-root.ts";
import type { DeviceDirectory, DeviceEntry } from "./launcher-device-rules.ts";

/**
 * A launcher's file system as {@link launcherDeviceRules} looks into it. Links are refused: a launcher
 * could let one point at a device that it was not given.
 */
export function safeDeviceDirectory(root: SafeRoot): DeviceDirectory {
  return {
    stat: (path) => unlessAbsent(() => root.resolve(path), entryOf),
    list: (path) =>
      unlessAbsent(
        () => root.resolve(path, "directory"),
        (directory) =>
          directory.list().map((name) => ({ name, directory: isDirectory(directory, name) })),
      ),
  };
}

function unlessAbsent<T>(open: () => SafePath, use: (path: SafePath) => T): T | undefined {
  let opened: SafePath;
  try {
    opened = open();
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  using path = opened;
  return use(path);
}

function entryOf(path: SafePath): DeviceEntry {
  const { type, device } = path.stat();
  return type === "char" || type === "block" ? { type, ...device } : { type: "other" };
}

function isDirectory(parent: SafePath, name: string): boolean {
  using entry = parent.child(name);
  return entry.type === "directory";
}
