import { part } from "../explain.ts";
import { emptyDirectory } from "../pod/volume.ts";
import type { Step } from "../pod-draft.ts";

/** Directories for the sockets between launcher and hook sidecars, and launcher and plugins. */
export const launcherSockets: Step = ({ sidecars, config, profile, explain }, draft) => {
  const { hooks, plugins } = profile.directories;
  if (sidecars.length > 0) {
    draft.volumes.push(emptyDirectory(hookSocketsVolume));
    draft.mounts.push({ name: hookSocketsVolume, mountPath: hooks });
    explain?.(part.volume(hookSocketsVolume), "rule", "the Pod has hook sidecars");
  }
  if (config.gate("Plugins")) {
    draft.volumes.push(emptyDirectory(pluginSocketsVolume));
    draft.mounts.push({ name: pluginSocketsVolume, mountPath: plugins });
    explain?.(
      part.volume(pluginSocketsVolume),
      "config.developerConfiguration.featureGates[Plugins]",
      "plugins listen here",
    );
  }
};

/** Name of the volume in which each hook sidecar has a directory for its socket. */
export const hookSocketsVolume = "hook-sidecar-sockets";

const pluginSocketsVolume = "kubevirt-plugin-sockets";
