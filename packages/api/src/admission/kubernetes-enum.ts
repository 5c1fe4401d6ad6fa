import type {
  DataVolumeTemplateSpec,
  PersistentVolumeClaimInfo,
  StorageMigratedVolumeInfo,
  VirtualMachineInstanceSpec,
  VirtualMachineInstanceStatus,
  VirtualMachineStatus,
} from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, oneOf, ownField, quote } from "./cause.ts";

/**
 * Values of Kubernetes' own types that are enums in KubeVirt's schema. They are refused before any rule runs,
 * in causes without reason and field; KubeVirt's own enums are left to the rules. Takes the spec as it was
 * sent: a missing required string is left to the rules, too, but an empty one is refused.
 */
export function closedEnums(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const causes: Cause[] = [];
  const one = checker(at, causes);
  one("dnsPolicy", spec.dnsPolicy, ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]);
  pulls(spec, one);
  scheduling(spec, one);
  for (const probe of ["readinessProbe", "livenessProbe"] as const) {
    one(`${probe}.httpGet.scheme`, spec[probe]?.httpGet?.scheme, ["HTTP", "HTTPS"]);
  }
  return causes;
}

const volumeModes = ["Block", "Filesystem", "FromStorageProfile"];
const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** The same for the volumes that are created with a VirtualMachine. */
export function closedVolumeEnums(templates: readonly DataVolumeTemplateSpec[]): readonly Cause[] {
  const causes: Cause[] = [];
  templates.forEach((template: DataVolumeTemplateSpec | null, i) => {
    // The type itself allows null, but KubeVirt's schema refuses it in a list.
    if (template === null) {
      const field = `spec.dataVolumeTemplates[${i}]`;
      causes.push(ownField({ message: `${field} must be an object, but is null`, field }));
      return;
    }
    const { spec } = template;
    for (const kind of ["pvc", "storage"] as const) {
      const one = checker(`spec.dataVolumeTemplates[${i}].spec.${kind}`, causes);
      one("volumeMode", spec[kind]?.volumeMode, volumeModes);
      for (const mode of spec[kind]?.accessModes ?? []) one("accessModes", mode, accessModes);
    }
  });
  return causes;
}

/** The same for the status of a VirtualMachineInstance. */
export function closedInstanceStatusEnums(
  status: VirtualMachineInstanceStatus | null | undefined,
): readonly Cause[] {
  if (!status) return fine;
  const causes: Cause[] = [];
  const one = checker("status", causes);
  one("qosClass", status.qosClass, ["BestEffort", "Burstable", "Guaranteed"]);
  for (const { persistentVolumeClaimInfo: claim } of status.volumeStatus ?? []) {
    claimEnums("volumeStatus", claim, one);
  }
  migratedVolumes(status.migratedVolumes, one);
  return causes;
}

/** The same for the status of a VirtualMachine. */
export function closedMachineStatusEnums(
  status: VirtualMachineStatus | null | undefined,
): readonly Cause[] {
  const migrated = status?.volumeUpdateState?.volumeMigrationState?.migratedVolumes;
  if (!migrated) return fine;
  const causes: Cause[] = [];
  migratedVolumes(migrated, checker("status.volumeUpdateState.volumeMigrationState", causes));
  return causes;
}

function migratedVolumes(
  volumes: readonly StorageMigratedVolumeInfo[] | null | undefined,
  one: One,
): void {
  for (const { sourcePVCInfo, destinationPVCInfo } of volumes ?? []) {
    claimEnums("migratedVolumes", sourcePVCInfo, one);
    claimEnums("migratedVolumes", destinationPVCInfo, one);
  }
}

function claimEnums(
  at: string,
  claim: PersistentVolumeClaimInfo | null | undefined,
  one: One,
): void {
  one(`${at} volumeMode`, claim?.volumeMode, volumeModes);
  for (const mode of claim?.accessModes ?? []) one(`${at} accessModes`, mode, accessModes);
}

function checker(at: string, causes: Cause[]): One {
  return (field, value, allowed) => {
    if (!isSet(value) || allowed.includes(value)) return;
    const message = `${at}.${field} is ${quote(value)}; use ${oneOf(allowed)}`;
    const [first = at] = message.split(" ", 1);
    causes.push(ownField({ message, field: first }));
  };
}

type One = (field: string, value: string | undefined, allowed: readonly string[]) => void;

const pullPolicies = ["Always", "IfNotPresent", "Never"];

function pulls({ domain, volumes }: VirtualMachineInstanceSpec, one: One): void {
  const kernel = domain.firmware?.kernelBoot?.container;
  one(
    "domain.firmware.kernelBoot.container.imagePullPolicy",
    kernel?.imagePullPolicy,
    pullPolicies,
  );
  volumes?.forEach(({ containerDisk }, i) => {
    one(
      `volumes[${i}].containerDisk.imagePullPolicy`,
      containerDisk?.imagePullPolicy,
      pullPolicies,
    );
  });
}

function scheduling(spec: VirtualMachineInstanceSpec, one: One): void {
  spec.tolerations?.forEach(({ effect, operator }, i) => {
    one(`tolerations[${i}].effect`, effect, ["NoExecute", "NoSchedule", "PreferNoSchedule"]);
    one(`tolerations[${i}].operator`, operator, ["Equal", "Exists"]);
  });
  spec.topologySpreadConstraints?.forEach((constraint, i) => {
    const field = `topologySpreadConstraints[${i}]`;
    one(`${field}.whenUnsatisfiable`, constraint.whenUnsatisfiable, [
      "DoNotSchedule",
      "ScheduleAnyway",
    ]);
    one(`${field}.nodeAffinityPolicy`, constraint.nodeAffinityPolicy, ["Honor", "Ignore"]);
    one(`${field}.nodeTaintsPolicy`, constraint.nodeTaintsPolicy, ["Honor", "Ignore"]);
  });
  nodeOperators(spec, one);
}

function nodeOperators({ affinity }: VirtualMachineInstanceSpec, one: One): void {
  const nodes = affinity?.nodeAffinity;
  if (!nodes) return;
  const terms = [
    ...(nodes.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []),
    ...(nodes.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term.preference),
  ];
  const operators = ["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"];
  for (const { matchExpressions, matchFields } of terms) {
    for (const { operator } of [...(matchExpressions ?? []), ...(matchFields ?? [])]) {
      one("affinity.nodeAffinity operator", operator, operators);
    }
  }
}
