import type { VirtualMachineInstance, VolumeStatus } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import { findStateClaim, needsStateClaim, stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { derivedName } from "../plan/derived-name.ts";
import { controllerOf } from "../plan/ownership.ts";
import { claimResource } from "../plan/resources.ts";
import { cdiNames } from "./cdi-names.ts";
import type { ClaimObject } from "./cluster-objects.ts";
import type { SyncFailure } from "./sync-failure.ts";
import type { VmiPass } from "./vmi-pass.ts";
import type { VmiPlanConfig } from "./vmi-plan-config.ts";
import type { VmiView } from "./vmi-view.ts";

/** The volume in the status that stands for the guest's persistent state. */
export const stateVolumeName: string = `${stateClaimLabel}-this-vm`;

const stateSize = "10Mi";

/** The claim with the guest's persistent state. */
export function stateClaim({ vmi, claims }: VmiView): ClaimObject | undefined {
  return findStateClaim(claims, text(vmi?.metadata?.name));
}

/** Whether the launcher Pod can be created, as far as the guest's persistent state goes. */
export type StateReadiness = "ready" | "wait" | SyncFailure;

/**
 * Manages the claim for persistent TPM and EFI state: creates it, waits for it, or deletes it if
 * nothing needs it.
 */
export function prepareState(pass: VmiPass): StateReadiness {
  const claim = stateClaim(pass.view);
  if (!needsStateClaim(pass.vmi)) return claim ? deleteClaim(pass, claim) : "ready";
  return claim ? readiness(pass.view, claim) : createClaim(pass);
}

function deleteClaim({ draft, namespace }: VmiPass, { metadata }: ClaimObject): StateReadiness {
  const refusal = draft.write({
    kind: "delete",
    resource: claimResource,
    object: { namespace, name: text(metadata?.name) },
    uid: text(metadata?.uid),
  });
  return refusal
    ? { reason: "Failed deleting backend storage", message: refusal.message }
    : "ready";
}

function readiness(view: VmiView, { spec, status }: ClaimObject): StateReadiness {
  const unusable = (message: string): SyncFailure => ({
    reason: "FailedBackendStorageProbe",
    message,
  });
  const phase = status?.phase;
  if (phase === "Bound") return "ready";
  if (phase === "Lost") {
    return unusable("the claim with the guest's persistent state has lost its volume");
  }
  if (phase === "Pending") {
    const name = spec?.storageClassName;
    if (name === undefined)
      return unusable("the claim with the guest's persistent state has no StorageClass");
    const storageClass = view.storageClasses.find(({ metadata }) => metadata?.name === name);
    if (!storageClass) return unusable(`StorageClass ${name} does not exist`);
    if (storageClass.volumeBindingMode === "WaitForFirstConsumer") return "ready";
  }
  return {
    reason: "BackendStorageNotReady",
    message: "the claim with the guest's persistent state is not bound yet",
  };
}

function createClaim(pass: VmiPass): StateReadiness {
  const failed = (message: string): SyncFailure => ({
    reason: "FailedBackendStorageCreate",
    message,
  });
  const unnamed = newStateClaim(pass, { [stateClaimLabel]: pass.name });
  if (!unnamed) {
    return failed(
      "there is no default StorageClass; set vmStateStorageClass, or mark a StorageClass as default",
    );
  }
  const object = named(unnamed, pass);
  const obstacle = refuseName(object, pass);
  if (obstacle) return obstacle;
  const refusal = pass.draft.write({
    kind: "create",
    resource: claimResource,
    object,
  });
  // Another controller was faster, or the cache does not show yet that this one was.
  const isThere = refusal?.reason === "AlreadyExists" && object.metadata.name !== undefined;
  return refusal && !isThere ? failed(refusal.message) : "wait";
}

/**
 * Named after the owner of the state, so that a second claim for it collides: the guest would sooner or later start
 * with the wrong one.
 */
function named(claim: KubeObject, { vmi, config }: VmiPass): KubeObject {
  if (config.podNames === "generated") return claim;
  return derivedName(claim, text((controllerOf(vmi) ?? vmi.metadata)?.uid));
}

/** Why no claim of this name can be created: there is one, but it cannot be used. */
function refuseName(
  { metadata }: KubeObject,
  { view, namespace }: VmiPass,
): SyncFailure | undefined {
  const { name } = metadata;
  const present = name && view.lookup.persistentVolumeClaim(namespace, name);
  if (!present) return undefined;
  const message = present.metadata.deletionTimestamp
    ? `claim ${name}, which held the guest's persistent state, is still being deleted; remove what uses it`
    : `claim ${name} must have the label ${stateClaimLabel} to hold the guest's persistent state; restore the label, or delete the claim`;
  return { reason: "BackendStorageNotReady", message };
}

/** What a claim for a guest's state depends on. */
interface StateClaimInput {
  readonly vmi: VirtualMachineInstance;
  readonly config: VmiPlanConfig;
  readonly view: Pick<VmiView, "storageClasses" | "storageProfiles">;
}

/**
 * A new claim for a guest's persistent state; none if no StorageClass can be chosen.
 *
 * @param labels that say whose state it is: a VMI's, or that of the target of a migration
 */
export function newStateClaim(
  input: StateClaimInput,
  labels: Readonly<Record<string, string>>,
): KubeObject | undefined {
  const storageClassName = storageClassFor(input);
  if (storageClassName === undefined) return undefined;
  const { metadata } = input.vmi;
  const name = text(metadata?.name);
  const owners = metadata?.ownerReferences ?? [];
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      namespace: text(metadata?.namespace),
      generateName: `${stateClaimLabel}-${name}-`,
      labels: { ...labels, [cdiNames.applyStorageProfile]: "true" },
      // The state lives as long as the VM; without a VM it is deleted with the VMI.
      ownerReferences:
        owners.length > 0
          ? owners
          : [
              {
                apiVersion: `${input.config.cluster.names.groups.core}/v1`,
                kind: "VirtualMachineInstance",
                name,
                uid: text(metadata?.uid),
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
    },
    spec: {
      accessModes: [accessModeFor(input, storageClassName)],
      resources: { requests: { storage: stateSize } },
      storageClassName,
      volumeMode: "Filesystem",
    },
  } as KubeObject;
}

/** The configured StorageClass, otherwise the default for VMs, otherwise the cluster's default. */
function storageClassFor({ config, view }: StateClaimInput): string | undefined {
  const configured = config.cluster.vmStateStorageClass;
  if (configured) return configured;
  const marked = (annotation: string): string | undefined =>
    view.storageClasses.findLast(({ metadata }) => metadata?.annotations?.[annotation] === "true")
      ?.metadata?.name;
  return marked(cdiNames.defaultForVms) ?? marked("storageclass.kubernetes.io/is-default-class");
}

/**
 * The storage's capabilities, if CDI knows them; otherwise shared access for a class that somebody
 * chose for this.
 */
function accessModeFor({ config, view }: StateClaimInput, storageClass: string): string {
  const profile = view.storageProfiles.find(({ metadata }) => metadata?.name === storageClass);
  const modes = (profile?.status?.claimPropertySets ?? [])
    .filter(({ volumeMode }) => volumeMode === "Filesystem")
    .flatMap(({ accessModes }) => accessModes ?? []);
  const possible = ["ReadWriteMany", "ReadWriteOnce"].find((mode) => modes.includes(mode));
  return possible ?? (config.cluster.vmStateStorageClass ? "ReadWriteMany" : "ReadWriteOnce");
}

/** Shows the claim of the guest's state among the VMI's volumes. */
export function reportState(pass: VmiPass): void {
  const claim = stateClaim(pass.view);
  if (!claim) return;
  const { status } = pass;
  const volumes = status.volumeStatus ?? [];
  const index = volumes.findIndex(isStateVolume);
  const info = {
    claimName: text(claim.metadata?.name),
    ...(claim.spec?.accessModes ? { accessModes: [...claim.spec.accessModes] } : {}),
  };
  const present = volumes[index];
  const { accessModes: _, ...known } = present?.persistentVolumeClaimInfo ?? {};
  const shown: VolumeStatus = {
    target: "",
    ...present,
    name: stateVolumeName,
    persistentVolumeClaimInfo: { ...known, ...info },
  };
  pass.status = {
    ...status,
    volumeStatus: present ? volumes.with(index, shown) : [...volumes, shown],
  };
}

/** Whether a volume of the status is the guest's persistent state; older VMIs name it after the claim. */
export function isStateVolume({ name }: VolumeStatus): boolean {
  return name.startsWith(stateClaimLabel);
}
