import { nodeAgentRules } from "@virtkit/node-agent/service";
import { apiServerLocalRules, apiServerRules, readBundleRule } from "./api-server-rules.ts";
import { controllerLocalRules, controllerRules } from "./controller-rules.ts";
import type { DecidedInstallation } from "./installation.ts";
import type { Rule } from "./rule.ts";

const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" };
const apiGroup = "rbac.authorization.k8s.io";

interface Account {
  readonly name: string;
  readonly rules: readonly Rule[];
  /** In the namespace of the installation. */
  readonly localRules: readonly Rule[];
}

/** The accounts of the components, each with what it needs and no more. */
export function accounts(installation: DecidedInstallation): readonly object[] {
  const { names, namespace } = installation;
  // Following a configuration needs a watch of the namespace, which a ClusterRole need not allow everywhere.
  const follow: Rule = {
    apiGroups: [names.groups.core],
    resources: ["kubevirts"],
    verbs: ["get", "list", "watch"],
  };
  const all: readonly Account[] = [
    {
      name: "kubevirt-apiserver",
      rules: apiServerRules(names),
      localRules: [...apiServerLocalRules(names), follow],
    },
    {
      name: "kubevirt-controller",
      rules: controllerRules(names),
      localRules: controllerLocalRules(),
    },
    {
      name: "kubevirt-handler",
      rules: nodeAgentRules(names),
      localRules: [follow, readBundleRule(names)],
    },
  ];
  return [...all.flatMap((account) => accountObjects(account, namespace)), frontProxy(namespace)];
}

function accountObjects({ name, rules, localRules }: Account, namespace: string): object[] {
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    { ...rbac, kind: "ClusterRole", metadata: { name }, rules },
    {
      ...{ ...rbac, kind: "ClusterRoleBinding", metadata: { name }, subjects },
      roleRef: { apiGroup, kind: "ClusterRole", name },
    },
    { ...rbac, kind: "Role", metadata: { name, namespace }, rules: localRules },
    {
      ...{ ...rbac, kind: "RoleBinding", metadata: { name, namespace }, subjects },
      roleRef: { apiGroup, kind: "Role", name },
    },
  ];
}

/** Lets the API server of VMs read who speaks for users: Kubernetes has a Role for exactly that. */
function frontProxy(namespace: string): object {
  return {
    ...{ ...rbac, kind: "RoleBinding" },
    metadata: { name: "kubevirt-apiserver-auth-reader", namespace: "kube-system" },
    roleRef: { apiGroup, kind: "Role", name: "extension-apiserver-authentication-reader" },
    subjects: [{ kind: "ServiceAccount", name: "kubevirt-apiserver", namespace }],
  };
}
