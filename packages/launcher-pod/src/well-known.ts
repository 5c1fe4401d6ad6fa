/** Labels and annotations of Kubernetes and of other projects: no platform renames them. */
export const foreignNames = {
  hostname: "kubernetes.io/hostname",
  architecture: "kubernetes.io/arch",
  istioInject: "sidecar.istio.io/inject",
  defaultContainer: "kubectl.kubernetes.io/default-container",
  requestEvictOnly: "descheduler.alpha.kubernetes.io/request-evict-only",
  networkResource: "k8s.v1.cni.cncf.io/resourceName",
} as const;

/** Label of claims with the persistent state of a guest; formerly also the prefix of their name. */
export const stateClaimLabel = "persistent-state-for";
