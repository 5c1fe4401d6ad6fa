import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { guardInput } from "../guard-input.ts";
import type { LauncherProfile } from "../launcher-profile.ts";
import type { ExistingPod, Pod } from "../pod/pod.ts";
import { emptyDirectory } from "../pod/volume.ts";
import { virtkitLauncherProfile } from "../virtkit-profile.ts";
import { hotplugVolume } from "../volumes/hotplug-support.ts";
import { foreignNames } from "../well-known.ts";
import { hotplugContainer, hotplugMetadata } from "./hotplug-container.ts";

/** A claim that waits for its first consumer before it binds. */
export interface HotplugTrigger {
  readonly vmi: VirtualMachineInstance;
  readonly volume: Volume;
  readonly claimName: string;
  readonly block: boolean;
  readonly launcherPod: ExistingPod;
  /** The Pod ends at once: its only purpose is to make the claim bind. */
  readonly temporary: boolean;
}

/**
 * The Pod that makes one claim bind on the node of a running guest, so that it can be attached
 * there. Throws as `renderHotplugPod` does.
 */
export function renderHotplugTriggerPod(
  { vmi, volume, claimName, block, launcherPod, temporary }: HotplugTrigger,
  config: ClusterConfig,
  { profile = virtkitLauncherProfile(config) }: { readonly profile?: LauncherProfile } = {},
): Pod {
  return guardInput(vmi, () => {
    const { name } = volume;
    const container = hotplugContainer(vmi, config, profile);
    if (temporary) container.command = ["/bin/bash", "-c", "exit", "0"];
    const metadata = hotplugMetadata(launcherPod, config.names);
    if (temporary)
      metadata.annotations = { [config.names.annotations.ephemeralProvisioning]: "true" };
    if (block) container.volumeDevices = [{ name, devicePath: "/dev/hotplugblockdevice" }];
    else container.volumeMounts?.push({ name, mountPath: "/pvc" });
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata,
      spec: {
        volumes: [{ name, persistentVolumeClaim: { claimName } }, emptyDirectory(hotplugVolume)],
        containers: [container],
        terminationGracePeriodSeconds: 0,
        ...(block ? { securityContext: { runAsUser: 0 } } : {}),
        affinity: besides(launcherPod),
        ...(launcherPod.spec?.tolerations?.length
          ? { tolerations: launcherPod.spec.tolerations }
          : {}),
      },
    };
  });
}

function besides({ metadata }: ExistingPod): NonNullable<Pod["spec"]["affinity"]> {
  const matchLabels = metadata?.labels ?? {};
  return {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          labelSelector: Object.keys(matchLabels).length > 0 ? { matchLabels } : {},
          topologyKey: foreignNames.hostname,
        },
      ],
    },
  };
}
