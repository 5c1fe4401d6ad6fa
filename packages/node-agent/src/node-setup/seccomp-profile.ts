import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "@virtkit/host-primitives/durable";
import { launcherSeccompProfile } from "@virtkit/host-primitives/seccomp";

/** The name that Pods use, below the kubelet's directory of profiles. */
export const seccompProfileName = "kubevirt/kubevirt.json";

/**
 * Puts the launchers' seccomp profile where the kubelet finds it: what container runtimes allow by default, and
 * userfaultfd, which post-copy needs. An existing one that is right is left alone. `kubelet` is its directory, as
 * this process sees it.
 */
export function installSeccompProfile(kubelet: string): "written" | "unchanged" {
  const path = join(kubelet, "seccomp", seccompProfileName);
  const profile = JSON.stringify(launcherSeccompProfile());
  if (contentOf(path) === profile) return "unchanged";
  writeDurably(path, profile);
  return "written";
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Missing or unreadable: it is written again.
    return undefined;
  }
}
