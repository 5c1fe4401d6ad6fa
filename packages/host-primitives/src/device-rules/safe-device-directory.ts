import { ifPresent } from "../safe-path/if-present.ts";
import type { SafePath } from "../safe-path/safe-path.ts";
import type { SafeRoot } from "../safe-path/safe-root.ts";
import type { DeviceDirectory, DeviceEntry } from "./launcher-device-rules.ts";

/**
 * A launcher's file system for {@link launcherDeviceRules}. Links are refused, because a launcher
 * could point one at a device that it was not given.
 */
export function safeDeviceDirectory(root: SafeRoot): DeviceDirectory {
  return {
    stat: (path) => ifPresent(() => root.resolve(path), entryOf),
    list: (path) =>
      ifPresent(
        () => root.resolve(path, "directory"),
        (directory) =>
          directory.list().map((name) => ({ name, directory: isDirectory(directory, name) })),
      ),
  };
}

function entryOf(path: SafePath): DeviceEntry {
  const { type, device } = path.stat();
  return type === "char" || type === "block" ? { type, ...device } : { type: "other" };
}

function isDirectory(parent: SafePath, name: string): boolean {
  using entry = parent.child(name);
  return entry.type === "directory";
}
