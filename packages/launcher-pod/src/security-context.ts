import type { ClusterConfig } from "@virtkit/api/config";
import { computeName } from "./containers/compute-container.ts";
import type { SeccompProfile } from "./pod/container.ts";
import type { Step } from "./pod-draft.ts";

/**
 * The user of the Pod and what confines it. The group owns its volumes even under a root launcher: virtiofsd is
 * never root.
 */
export const securityContext: Step = ({ nonRoot, profile, config }, { securityContext: own }) => {
  const { userId } = profile;
  own.runAsUser = nonRoot ? userId : 0;
  if (nonRoot) {
    own.runAsGroup = userId;
    own.runAsNonRoot = true;
  }
  own.fsGroup = userId;
  const seccomp = seccompProfile(config);
  if (seccomp) own.seccompProfile = seccomp;
  if (config.selinuxLauncherType) own.seLinuxOptions = { type: config.selinuxLauncherType };
};

function seccompProfile({ seccomp }: ClusterConfig): SeccompProfile | undefined {
  const custom = seccomp?.virtualMachineInstanceProfile?.customProfile;
  if (typeof custom?.localhostProfile === "string") {
    return { type: "Localhost", localhostProfile: custom.localhostProfile };
  }
  return custom?.runtimeDefaultProfile ? { type: "RuntimeDefault" } : undefined;
}

/**
 * Docker gives each container its own SELinux categories, so that they could not share sockets: if the cluster
 * asks for it, helpers run without categories.
 */
export const sharedSelinuxLevel: Step = ({ config }, { helpers }) => {
  if (!config.gate("DockerSELinuxMCSWorkaround")) return;
  const type = config.selinuxLauncherType;
  for (const container of helpers) {
    if (container.name === computeName) continue;
    container.securityContext = {
      ...container.securityContext,
      seLinuxOptions: { ...(type ? { type } : {}), level: "s0" },
    };
  }
};
