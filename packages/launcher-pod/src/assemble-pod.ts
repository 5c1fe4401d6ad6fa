import { computeContainer } from "./containers/compute-container.ts";
import { podGracePeriod } from "./containers/grace-period.ts";
import { imagePullSecrets } from "./image-pull-secrets.ts";
import type { LauncherRequest } from "./launcher-request.ts";
import { hostnameOf } from "./metadata/hostname.ts";
import type { Pod, PodSpec } from "./pod/pod.ts";
import type { PodDraft } from "./pod-draft.ts";
import { foreignNames } from "./well-known.ts";

/** The Pod that the steps have drafted, with what is a plain copy from the VMI. */
export function assemblePod(request: LauncherRequest, draft: PodDraft): Pod {
  const { name, namespace, uid, profile, names } = request;
  const { finalizers } = profile;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `virt-launcher-${name}-`,
      namespace,
      labels: draft.labels,
      annotations: draft.annotations,
      ownerReferences: [
        {
          apiVersion: `${names.groups.core}/v1`,
          kind: "VirtualMachineInstance",
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...(finalizers.length > 0 ? { finalizers: [...finalizers] } : {}),
    },
    spec: assembleSpec(request, draft),
  };
}

function assembleSpec(request: LauncherRequest, draft: PodDraft): PodSpec {
  const { initContainers, helpers, volumes, helperVolumes } = draft;
  const spec: PodSpec = {
    volumes: helperVolumes.length > 0 ? [...volumes, ...helperVolumes] : volumes,
    containers: [computeContainer(request, draft), ...helpers],
    restartPolicy: "Never",
    terminationGracePeriodSeconds: podGracePeriod(request.spec),
    nodeSelector: draft.nodeSelector,
    automountServiceAccountToken: needsToken(request),
    securityContext: draft.securityContext,
    hostname: hostnameOf(request),
    readinessGates: [{ conditionType: request.names.podConditions.unpaused }],
    enableServiceLinks: false,
  };
  if (initContainers.length > 0) spec.initContainers = initContainers;
  const secrets = imagePullSecrets(request);
  if (secrets.length > 0) spec.imagePullSecrets = secrets;
  if (draft.affinity) spec.affinity = draft.affinity;
  copyFromVmi(request, spec);
  return spec;
}

/** Fields that mean the same for a VMI and its Pod. */
function copyFromVmi({ spec: vmi, config }: LauncherRequest, spec: PodSpec): void {
  if (vmi.subdomain) spec.subdomain = vmi.subdomain;
  if (vmi.dnsConfig) spec.dnsConfig = vmi.dnsConfig;
  if (vmi.dnsPolicy) spec.dnsPolicy = vmi.dnsPolicy;
  if (vmi.schedulerName) spec.schedulerName = vmi.schedulerName;
  if (vmi.priorityClassName) spec.priorityClassName = vmi.priorityClassName;
  if (vmi.tolerations?.length) spec.tolerations = vmi.tolerations;
  if (vmi.topologySpreadConstraints?.length) {
    spec.topologySpreadConstraints = vmi.topologySpreadConstraints;
  }
  if (vmi.resourceClaims?.length) spec.resourceClaims = vmi.resourceClaims.map(podClaim);
  if (config.defaultRuntimeClass) spec.runtimeClassName = config.defaultRuntimeClass;
  const account = vmi.serviceAccountName || serviceAccountOfVolumes(vmi.volumes);
  if (account) spec.serviceAccountName = account;
}

type ResourceClaims = NonNullable<LauncherRequest["spec"]["resourceClaims"]>;

function podClaim({
  name,
  resourceClaimName,
  resourceClaimTemplateName,
}: ResourceClaims[number]): NonNullable<PodSpec["resourceClaims"]>[number] {
  return {
    name,
    ...(resourceClaimName === undefined ? {} : { resourceClaimName }),
    ...(resourceClaimTemplateName === undefined ? {} : { resourceClaimTemplateName }),
  };
}

/** The guest may see the token of a service account; Istio's proxy needs one. */
function needsToken({ spec, annotations: own }: LauncherRequest): boolean {
  if (serviceAccountOfVolumes(spec.volumes)) return true;
  return own[foreignNames.istioInject]?.toLowerCase() === "true";
}

function serviceAccountOfVolumes(volumes: LauncherRequest["spec"]["volumes"]): string {
  const volume = volumes?.find(({ serviceAccount }) => serviceAccount);
  return volume?.serviceAccount?.serviceAccountName ?? "";
}
