import type { ClusterConfig } from "@virtkit/api/config";
import type { Toleration, VirtualMachineInstance, Volume } from "@virtkit/api/schema";
import { isBlockClaim } from "@virtkit/api/volumes";
import type { PersistentVolumeClaim } from "../cluster-lookup.ts";
import { guardInput } from "../guard-input.ts";
import type { LauncherProfile } from "../launcher-profile.ts";
import type { ExistingPod, Pod } from "../pod/pod.ts";
import { emptyDirectory } from "../pod/volume.ts";
import { virtkitLauncherProfile } from "../virtkit-profile.ts";
import { claimNameOf } from "../volumes/claim-name.ts";
import { hotplugVolume } from "../volumes/hotplug-support.ts";
import { foreignNames } from "../well-known.ts";
import { hotplugContainer, hotplugMetadata } from "./hotplug-container.ts";

/** Taints that do not keep a Pod from a node where its guest already runs. */
const bearableTaints = [
  "unschedulable",
  "network-unavailable",
  "disk-pressure",
  "memory-pressure",
  "pid-pressure",
];

/** What to attach to a running guest. */
export interface HotplugRequest {
  readonly vmi: VirtualMachineInstance;
  readonly volumes: readonly Volume[];
  /** The launcher Pod that the volumes are for; it also owns the hotplug Pod. */
  readonly launcherPod: ExistingPod;
  /** Claims by volume name. A volume whose claim is missing is attached without a mount. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
}

/**
 * The Pod that brings claims to the node of a running guest, where the node agent passes them on. A volume that the
 * guest has already mounted stays attached but is not mounted again. Throws if the VMI's SELinux context is missing
 * or malformed, since the Pod's files need its level.
 */
export function renderHotplugPod(
  request: HotplugRequest,
  config: ClusterConfig,
  { profile = virtkitLauncherProfile(config) }: { readonly profile?: LauncherProfile } = {},
): Pod {
  const { vmi, launcherPod } = request;
  return guardInput(vmi, () => {
    const container = hotplugContainer(vmi, config, profile);
    const type = config.selinuxLauncherType;
    if (type) container.securityContext.seLinuxOptions.type = type;
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: hotplugMetadata(launcherPod, config.names),
      spec: {
        volumes: [emptyDirectory(hotplugVolume)],
        containers: [container],
        terminationGracePeriodSeconds: 0,
        affinity: onNode(launcherPod.spec?.nodeName ?? ""),
        tolerations: tolerations(launcherPod),
      },
    };
    attachVolumes(pod, request);
    return pod;
  });
}

function attachVolumes({ spec }: Pod, { vmi, volumes, claims }: HotplugRequest): void {
  const [container] = spec.containers;
  const mounted = mountedVolumes(vmi);
  for (const volume of volumes) {
    const { name } = volume;
    const claimName = claimNameOf(volume);
    if (!claimName) continue;
    spec.volumes?.push({ name, persistentVolumeClaim: { claimName } });
    const claim = claims.get(name);
    if (!claim || !container) continue;
    if (isBlockClaim(claim.spec)) {
      container.volumeDevices ??= [];
      const devicePath = `/path/${name}/${claim.metadata.uid ?? ""}`;
      container.volumeDevices.push({ name, devicePath });
    } else if (!mounted.has(name)) {
      container.volumeMounts?.push({ name, mountPath: `/${name}` });
    }
  }
}

/** If a volume has several statuses, the last one counts. */
function mountedVolumes({ status }: VirtualMachineInstance): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name, hotplugVolume: hotplugged, phase } of status?.volumeStatus ?? []) {
    if (!hotplugged) continue;
    if (phase === "Ready" || phase === "MountedToPod") names.add(name);
    else names.delete(name);
  }
  return names;
}

function onNode(node: string): NonNullable<Pod["spec"]["affinity"]> {
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: foreignNames.hostname, operator: "In", values: [node] }] },
        ],
      },
    },
  };
}

/** Those of the launcher Pod and the tolerable ones, by key; equal neighbours count once. */
function tolerations({ spec }: ExistingPod): Toleration[] {
  const all: Toleration[] = bearableTaints.map((taint) => ({
    key: `node.kubernetes.io/${taint}`,
    operator: "Exists",
    effect: "NoSchedule",
  }));
  all.push(...(spec?.tolerations ?? []));
  all.sort((a, b) => compare(a.key ?? "", b.key ?? ""));
  return all.filter((toleration, index) => {
    const previous = all[index - 1];
    return !previous || !isSame(toleration, previous);
  });
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Kubernetes compares the seconds by identity, so only tolerations without them are ever equal. */
function isSame(a: Toleration, b: Toleration): boolean {
  if (a.tolerationSeconds !== undefined || b.tolerationSeconds !== undefined) return false;
  return (["key", "operator", "value", "effect"] as const).every(
    (field) => (a[field] ?? "") === (b[field] ?? ""),
  );
}
