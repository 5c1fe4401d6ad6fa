/** How KubeVirt words it that the cluster's default network cannot be used. */
export const refusedBindings = {
  bridge: "bridge interface is not enabled in kubevirt-config",
  slirp: "slirp interface is deprecated as of v1.3",
} as const;
