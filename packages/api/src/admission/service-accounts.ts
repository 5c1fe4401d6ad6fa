const components = ["apiserver", "controller", "handler", "synchronization-controller"] as const;

/** The service accounts under which KubeVirt's own components act. */
export interface ServiceAccounts {
  /** Whether the user is one of them. */
  isKubeVirt(username: string | undefined): boolean;
  /** Whether the user is the agent of a node. */
  isHandler(username: string | undefined): boolean;
  /** Whether the user is the controller. */
  isController(username: string | undefined): boolean;
}

/** The service accounts of a KubeVirt that is installed in the given namespace. */
export function serviceAccounts(namespace = "kubevirt"): ServiceAccounts {
  const accounts = new Map(
    components.map((name) => [`system:serviceaccount:${namespace}:kubevirt-${name}`, name]),
  );
  const component = (username: string | undefined): string | undefined =>
    accounts.get(username ?? "");
  return {
    isKubeVirt: (username) => component(username) !== undefined,
    isHandler: (username) => component(username) === "handler",
    isController: (username) => component(username) === "controller",
  };
}
