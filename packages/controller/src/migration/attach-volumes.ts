import { isSet } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import {
  isLauncherPodError,
  type PersistentVolumeClaim,
  type Pod,
  renderHotplugPod,
} from "@virtkit/launcher-pod";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import { derivedName } from "../plan/derived-name.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { podResource } from "../plan/resources.ts";
import type { PodObject } from "../vmi/cluster-objects.ts";
import { hotplugVolumes } from "../vmi/hotplug-volumes.ts";
import { failedPass, isFailedPass } from "./failed-pass.ts";
import type { MigrationPass } from "./migration-pass.ts";

/** Whether volumes are or will be attached to the running guest. */
export function hasAttachedVolumes({ vmi }: MigrationPass): boolean {
  return (
    (vmi.status?.volumeStatus ?? []).some(({ hotplugVolume }) => isSet(hotplugVolume)) ||
    (vmi.spec.volumes ?? []).some(
      ({ dataVolume, persistentVolumeClaim }) =>
        dataVolume?.hotpluggable || persistentVolumeClaim?.hotpluggable,
    )
  );
}

/** Creates the Pod that brings the attached volumes to the target's node. */
export function attachVolumes(pass: MigrationPass, targetPod: PodObject): PlanError | undefined {
  if (!hasAttachedVolumes(pass) || pass.attachmentPod) return undefined;
  const pod = render(pass, targetPod);
  if (isFailedPass(pod)) return pod;
  const object = { ...pod, metadata: { ...pod.metadata, namespace: pass.namespace } } as KubeObject;
  const refusal = pass.draft.write({ kind: "create", resource: podResource, object });
  if (!refusal) {
    pass.event("Normal", "SuccessfulCreate", "the target's attachment Pod was created");
    return undefined;
  }
  const message = `the target's attachment Pod was refused: ${refusal.message}`;
  pass.vmiEvent("Warning", "FailedCreate", message);
  return failedPass(message);
}

function render(pass: MigrationPass, launcherPod: PodObject): Pod | PlanError {
  const { vmi, view, config, names, uid, name } = pass;
  const volumes = hotplugVolumes(vmi, pass.sourcePod ?? {});
  const claims = new Map<string, PersistentVolumeClaim>();
  for (const volume of volumes) {
    const claimName = claimNameOf(volume);
    const claim = view.claims.find((each) => nameOf(each).name === claimName);
    if (!claim)
      return failedPass(`volume ${volume.name} needs claim ${claimName}, which does not exist`);
    claims.set(volume.name, claim as PersistentVolumeClaim);
  }
  // Nothing is mounted at the target yet, whatever the status says about the source.
  const fresh = { ...vmi, status: { ...vmi.status, volumeStatus: [] } };
  try {
    const request = { vmi: fresh, volumes, launcherPod, claims };
    const { metadata, ...pod } = renderHotplugPod(request, config.cluster, {
      profile: config.profile,
    });
    const labels = { ...metadata.labels, [names.labels.migrationJobUid]: uid };
    const annotations = { ...metadata.annotations, [names.annotations.migrationJobName]: name };
    const target = { ...pod, metadata: { ...metadata, labels, annotations } };
    return config.podNames === "generated" ? target : derivedName(target, `${uid}/volumes`);
  } catch (error) {
    if (!isLauncherPodError(error)) throw error;
    return failedPass(`the target's attachment Pod cannot be rendered: ${error.message}`);
  }
}
