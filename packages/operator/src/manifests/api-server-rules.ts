import { cdiGroup, certificateNames, type Names } from "@virtkit/api/names";
import { bundledObjects } from "@virtkit/api-server";
import type { Rule } from "./rule.ts";

/** The Secret with the authorities of an installation. */
export const authoritySecret = "virtkit-ca";

const read = ["get", "list"];

/**
 * What the API server of VMs may do in the whole cluster: read what rules need, write what subresources write,
 * check permissions, and maintain the CA bundles of its own objects.
 */
export function apiServerRules(names: Names): readonly Rule[] {
  const { groups } = names;
  const bundled = bundledObjects(names);
  return [
    {
      apiGroups: [groups.core],
      resources: ["virtualmachines", "virtualmachineinstances"],
      verbs: [...read, "patch"],
    },
    { apiGroups: [groups.core], resources: ["virtualmachines/status"], verbs: ["patch"] },
    {
      apiGroups: [groups.core],
      resources: ["virtualmachineinstancemigrations"],
      verbs: [...read, "create"],
    },
    {
      apiGroups: [groups.instancetype],
      resources: [
        ...["virtualmachineinstancetypes", "virtualmachineclusterinstancetypes"],
        ...["virtualmachinepreferences", "virtualmachineclusterpreferences"],
      ],
      verbs: read,
    },
    { apiGroups: [""], resources: ["pods", "nodes", "persistentvolumeclaims"], verbs: read },
    { apiGroups: ["apps"], resources: ["controllerrevisions"], verbs: read },
    {
      apiGroups: [cdiGroup],
      resources: ["cdiconfigs", "datavolumes", "datasources"],
      verbs: read,
    },
    { apiGroups: ["snapshot.storage.k8s.io"], resources: ["volumesnapshots"], verbs: read },
    {
      apiGroups: ["authorization.k8s.io"],
      resources: ["subjectaccessreviews"],
      verbs: ["create"],
    },
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests"],
      verbs: ["get", "list", "watch"],
    },
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests/approval", "certificatesigningrequests/status"],
      verbs: ["update"],
    },
    // Kubernetes also requires this; it may not approve or sign for any other signer.
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["signers"],
      resourceNames: [certificateNames(names).signer],
      verbs: ["approve", "sign"],
    },
    {
      apiGroups: ["apiregistration.k8s.io"],
      resources: ["apiservices"],
      resourceNames: bundled.apiServices,
      verbs: ["get", "patch"],
    },
    {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["mutatingwebhookconfigurations"],
      resourceNames: bundled.mutatingWebhooks,
      verbs: ["get", "patch"],
    },
    {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["validatingwebhookconfigurations"],
      resourceNames: bundled.validatingWebhooks,
      verbs: ["get", "patch"],
    },
  ];
}

/**
 * What it may do in its own namespace: maintain the Secret with its authorities, and publish who is trusted.
 */
export function apiServerLocalRules(names: Names): readonly Rule[] {
  const { bundle } = certificateNames(names);
  return [
    // A create request names its object only in the body, so it cannot be limited to one name.
    { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["create"] },
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [authoritySecret],
      verbs: ["get", "update"],
    },
    {
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: [bundle.name],
      verbs: ["get", "update"],
    },
  ];
}

/** For those who verify certificates: who is trusted. */
export function readBundleRule(names: Names): Rule {
  const { bundle } = certificateNames(names);
  return {
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: [bundle.name],
    verbs: ["get"],
  };
}
