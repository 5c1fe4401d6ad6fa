import type {
  StorageMigratedVolumeInfo,
  VirtualMachineInstance,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { JsonPatchOperation } from "@virtkit/kube";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import { apiError } from "../plan/api-error.ts";
import { valuePatch } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { MigrationPass } from "./migration-pass.ts";

/** Prepares to receive a guest from another cluster. */
export function beginReceiving(pass: MigrationPass): PlanError | undefined {
  const state = openState(pass);
  return writeState(pass, {
    ...state,
    targetState: {
      ...state.targetState,
      ...(state.targetPod ? { pod: state.targetPod } : {}),
      ...(state.targetNode ? { node: state.targetNode } : {}),
      migrationUID: pass.uid,
    },
  });
}

/** Prepares to send a guest to another cluster. */
export function beginSending(pass: MigrationPass): PlanError | undefined {
  const { vmi, migration, uid } = pass;
  const state = openState(pass);
  return writeState(pass, {
    ...state,
    sourceState: {
      ...state.sourceState,
      migrationUID: uid,
      virtualMachineInstanceUID: text(vmi.metadata?.uid),
      domainNamespace: text(vmi.metadata?.namespace),
    },
    targetState: {
      ...state.targetState,
      syncAddress: text(migration.spec?.sendTo?.connectURL),
    },
  });
}

/** The state of a finished migration is not continued. */
function openState({ vmi }: MigrationPass): VirtualMachineInstanceMigrationState {
  const state = vmi.status?.migrationState;
  return !state || state.completed ? {} : state;
}

/** Writes what a target in another cluster must know about the source. */
export function describeSource(pass: MigrationPass): PlanError | undefined {
  const { vmi, migration, uid } = pass;
  const { nodeName, selinuxContext, migrationState = {} } = vmi.status ?? {};
  const own = migration.status?.migrationState;
  const pod = text(own?.sourcePod);
  const node = text(nodeName);
  const failure = writeState(pass, {
    ...migrationState,
    sourceNode: node,
    sourcePod: pod,
    migrationUid: uid,
    sourceState: {
      ...migrationState.sourceState,
      node,
      pod,
      persistentStatePVCName: text(own?.sourcePersistentStatePVCName),
      ...(selinuxContext ? { selinuxContext } : {}),
      nodeSelectors: cpuLabels(pass, node),
    },
  });
  if (failure) {
    const message = `the source could not be described in the VMI: ${failure.message}`;
    pass.event("Warning", "FailedHandOver", message);
  }
  return failure;
}

function cpuLabels({ view, names }: MigrationPass, node: string): Record<string, string> {
  const { hostModelCpu, hostModelRequiredFeatures, cpuVendor } = names.nodeLabels;
  const labels = view.nodes().find((each) => nameOf(each).name === node)?.metadata?.labels ?? {};
  const prefixes = [hostModelCpu, hostModelRequiredFeatures, cpuVendor];
  const isAboutCpu = ([key]: [string, string]): boolean =>
    prefixes.some((prefix) => key.startsWith(prefix));
  return Object.fromEntries(Object.entries(labels).filter(isAboutCpu));
}

function writeState(
  pass: MigrationPass,
  state: VirtualMachineInstanceMigrationState,
): PlanError | undefined {
  const before = pass.vmi.status?.migrationState;
  return patchVmi(pass, valuePatch("/status/migrationState", before, state));
}

function patchVmi(
  { vmi, draft, resources }: MigrationPass,
  operations: readonly JsonPatchOperation[],
): PlanError | undefined {
  if (operations.length === 0) return undefined;
  const object = nameOf(vmi);
  const refusal = draft.write({ kind: "patch", resource: resources.vmis, object, operations });
  return refusal && apiError(refusal);
}

/** Nothing is shared between clusters: every volume with a claim is copied. */
export function listCopiedVolumes(pass: MigrationPass): PlanError | undefined {
  const { vmi } = pass;
  const copied = (vmi.spec.volumes ?? []).flatMap((volume) => copiedVolume(pass, volume));
  const before = vmi.status?.migratedVolumes;
  if (copied.length === 0 && (before ?? []).length === 0) return undefined;
  return patchVmi(pass, valuePatch("/status/migratedVolumes", before, copied));
}

function copiedVolume(
  { view }: MigrationPass,
  volume: NonNullable<VirtualMachineInstance["spec"]["volumes"]>[number],
): readonly StorageMigratedVolumeInfo[] {
  if (!volume.persistentVolumeClaim && !volume.dataVolume) return [];
  const claimName = claimNameOf(volume);
  const claim = view.claims.find((each) => nameOf(each).name === claimName);
  if (!claim) return [];
  const { accessModes, volumeMode, resources } = claim.spec ?? {};
  const info = {
    claimName,
    ...(accessModes ? { accessModes: [...accessModes] } : {}),
    ...(volumeMode ? { volumeMode } : {}),
    ...(resources?.requests ? { requests: { ...resources.requests } } : {}),
    ...(claim.status?.capacity ? { capacity: { ...claim.status.capacity } } : {}),
  };
  return [{ volumeName: volume.name, sourcePVCInfo: info, destinationPVCInfo: info }];
}

/** The VMI without what would need a claim for its state; the target's claim is made separately. */
export function withoutPersistentState(vmi: VirtualMachineInstance): VirtualMachineInstance {
  const { domain } = vmi.spec;
  const { tpm } = domain.devices;
  const efi = domain.firmware?.bootloader?.efi;
  return {
    ...vmi,
    spec: {
      ...vmi.spec,
      domain: {
        ...domain,
        devices: tpm?.persistent
          ? { ...domain.devices, tpm: { ...tpm, enabled: false } }
          : domain.devices,
        ...(efi?.persistent
          ? {
              firmware: {
                ...domain.firmware,
                bootloader: { ...domain.firmware?.bootloader, efi: { ...efi, persistent: false } },
              },
            }
          : {}),
      },
    },
  };
}
