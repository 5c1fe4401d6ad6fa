import { cdiGroup, type Names } from "@virtkit/api/names";
import type { Rule } from "./rule.ts";

const read = ["get", "list", "watch"];

/** What the controllers may do in the whole cluster. They read no Secret. */
export function controllerRules({ groups }: Names): readonly Rule[] {
  const core = (resources: readonly string[], verbs: readonly string[]): Rule => ({
    apiGroups: [groups.core],
    resources,
    verbs,
  });
  return [
    core(["virtualmachines"], [...read, "create", "patch", "delete"]),
    core(["virtualmachineinstances"], [...read, "create", "patch", "delete"]),
    core(["virtualmachineinstancemigrations"], [...read, "create", "patch", "delete"]),
    core(["virtualmachineinstancereplicasets"], [...read, "patch"]),
    { apiGroups: [groups.pool], resources: ["virtualmachinepools"], verbs: [...read, "patch"] },
    { apiGroups: [groups.pool], resources: ["virtualmachinepools/status"], verbs: ["patch"] },
    { apiGroups: [groups.pool], resources: ["virtualmachinepools/finalizers"], verbs: ["update"] },
    core(["kubevirts"], read),
    core(
      [
        ...["virtualmachines/status", "virtualmachineinstancemigrations/status"],
        ...["virtualmachineinstancereplicasets/status", "kubevirts/status"],
      ],
      ["patch"],
    ),
    // Blocking an owner's deletion needs permission for its finalizers subresource.
    core(
      ["virtualmachines", "virtualmachineinstances", "virtualmachineinstancereplicasets"].map(
        (plural) => `${plural}/finalizers`,
      ),
      ["update"],
    ),
    {
      apiGroups: [groups.instancetype],
      resources: [
        ...["virtualmachineinstancetypes", "virtualmachineclusterinstancetypes"],
        ...["virtualmachinepreferences", "virtualmachineclusterpreferences"],
      ],
      verbs: read,
    },
    { apiGroups: [groups.migrations], resources: ["migrationpolicies"], verbs: read },
    {
      apiGroups: [groups.subresources],
      resources: [
        ...["virtualmachineinstances/addvolume", "virtualmachineinstances/removevolume"],
        "virtualmachineinstances/backup",
      ],
      verbs: ["update"],
    },
    { apiGroups: [""], resources: ["pods"], verbs: [...read, "create", "patch", "delete"] },
    { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
    { apiGroups: [""], resources: ["pods/finalizers"], verbs: ["update"] },
    { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
    { apiGroups: [""], resources: ["nodes"], verbs: [...read, "patch"] },
    {
      apiGroups: [""],
      resources: ["persistentvolumeclaims"],
      verbs: [...read, "create", "patch", "delete"],
    },
    { apiGroups: [""], resources: ["namespaces", "configmaps", "resourcequotas"], verbs: read },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    {
      apiGroups: ["apps"],
      resources: ["controllerrevisions"],
      verbs: [...read, "create", "patch", "delete"],
    },
    { apiGroups: ["apps"], resources: ["daemonsets"], verbs: read },
    { apiGroups: ["batch"], resources: ["jobs"], verbs: [...read, "create", "delete"] },
    { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: read },
    {
      apiGroups: ["k8s.cni.cncf.io"],
      resources: ["network-attachment-definitions"],
      verbs: read,
    },
    {
      apiGroups: [cdiGroup],
      resources: ["datasources", "storageprofiles", "cdis", "cdiconfigs"],
      verbs: read,
    },
    {
      apiGroups: [cdiGroup],
      resources: ["datavolumes"],
      verbs: [...read, "create", "patch", "delete"],
    },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  ];
}

/**
 * What they may do in their own namespace: hold the lease that elects the active one, and see how far the installation
 * is.
 */
export function controllerLocalRules(): readonly Rule[] {
  return [
    {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      verbs: ["get", "list", "watch", "create", "update", "patch"],
    },
    { apiGroups: ["apps"], resources: ["deployments", "daemonsets"], verbs: read },
  ];
}
