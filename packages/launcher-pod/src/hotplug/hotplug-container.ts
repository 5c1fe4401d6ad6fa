import type { ClusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { ObjectMeta, VirtualMachineInstance } from "@virtkit/api/schema";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { LauncherProfile } from "../launcher-profile.ts";
import type { Container, SELinuxOptions, SecurityContext } from "../pod/container.ts";
import type { ExistingPod } from "../pod/pod.ts";
import { type SupportDefaults, supportResources } from "../resources/support-resources.ts";
import { invalidContext } from "../target/target-selinux.ts";
import { hotplugVolume } from "../volumes/hotplug-support.ts";

const name = "hotplug-disk";

const defaults: SupportDefaults = {
  type: "hotplug-disk",
  requests: { cpu: "10m", memory: "2M" },
  limits: { cpu: "100m", memory: "80M" },
};

type HotplugContainer = Container & {
  securityContext: SecurityContext & { seLinuxOptions: SELinuxOptions };
};

/** Metadata of a Pod that lives as long as a launcher Pod. */
export function hotplugMetadata({ metadata }: ExistingPod, { labels }: Names): ObjectMeta {
  return {
    generateName: "hp-volume-",
    ...(metadata?.namespace ? { namespace: metadata.namespace } : {}),
    labels: { [labels.app]: name },
    ownerReferences: [
      {
        apiVersion: "v1",
        kind: "Pod",
        name: metadata?.name ?? "",
        uid: metadata?.uid ?? "",
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}

/** The container that holds hotplugged volumes open, with the SELinux level of the guest's files. */
export function hotplugContainer(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
  { image, programs, userId }: LauncherProfile,
): HotplugContainer {
  return {
    name,
    image,
    command: ["/bin/sh", "-c", `${programs.containerDisk} --copy-path /path/hp`],
    resources: supportResources(config, defaults, false),
    volumeMounts: [
      { name: hotplugVolume, mountPath: "/path", mountPropagation: "HostToContainer" },
    ],
    securityContext: {
      capabilities: { drop: ["ALL"] },
      seLinuxOptions: { level: selinuxLevel(vmi) },
      runAsUser: userId,
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
}

/** The guest's level, or the source's while the guest is moving here; s0 without SELinux. */
function selinuxLevel({ status }: VirtualMachineInstance): string {
  const context = status?.selinuxContext || status?.migrationState?.sourceState?.selinuxContext;
  if (!context) {
    const path = "status.selinuxContext";
    const message = `${path} is missing; wait until the node agent has reported it`;
    throw new LauncherPodError("LAUNCHER_POD_SOURCE_INVALID", message, { path });
  }
  if (context === "none") return "s0";
  const level = context.split(":").slice(3).join(":");
  if (context.split(":").length < 4) throw invalidContext(context);
  return level;
}
