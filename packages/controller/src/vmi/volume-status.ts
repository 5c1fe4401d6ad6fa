import type { Volume, VolumeStatus } from "@virtkit/api/schema";
import { isBlockClaim } from "@virtkit/api/volumes";
import { claimNameOf } from "@virtkit/launcher-pod/traits";
import { splitAttachmentPods } from "./attachment-pods.ts";
import { stateClaim, stateVolumeName } from "./backend-storage.ts";
import { claimInfo } from "./claim-info.ts";
import type { PodObject } from "./cluster-objects.ts";
import { claimNamed } from "./data-volumes.ts";
import { hotplugStatus, unplugStatus } from "./hotplug-status.ts";
import { hotplugVolumes } from "./hotplug-volumes.ts";
import { attachmentPodsOf } from "./own-pods.ts";
import type { VmiPass } from "./vmi-pass.ts";

/**
 * Shows the claims behind the volumes, and the progress of the hotplugged ones. A string says why
 * that is not possible now.
 */
export function reportVolumes(pass: VmiPass, launcher: PodObject): string | undefined {
  const { vmi, view } = pass;
  const before = new Map((pass.status.volumeStatus ?? []).map((each) => [each.name, each]));
  const attachable = hotplugVolumes(vmi, launcher);
  const pods = attachmentPodsOf(launcher, view);
  const { current } = splitAttachmentPods(attachable, pods);
  const after: VolumeStatus[] = [...stateVolume(pass, before)];
  const { volumes = [], utilityVolumes = [] } = vmi.spec;
  const utility = new Map(utilityVolumes.map(({ name, claimName }) => [name, claimName]));
  const hotplugged = new Set([...attachable.map(({ name }) => name), ...utility.keys()]);
  const all = [
    ...volumes,
    ...[...utility].map(
      ([name, claimName]): Volume => ({
        name,
        persistentVolumeClaim: { claimName },
      }),
    ),
  ];
  for (const volume of all) {
    const { name } = volume;
    const known = withMemoryDump(before.get(name) ?? { name, target: "" }, volume);
    before.delete(name);
    const plugged = hotplugged.has(name) ? hotplugStatus(pass, volume, known, current) : known;
    const shown = withClaim(pass, volume, plugged, utility.has(name));
    if (typeof shown === "string") return shown;
    after.push(shown);
  }
  for (const status of before.values()) after.push(...unplugStatus(pass, status, pods));
  after.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  pass.status = { ...pass.status, volumeStatus: after };
  return undefined;
}

/** The guest's persistent state is not a volume of the spec; older VMIs name it after its claim. */
function stateVolume(
  { view }: VmiPass,
  before: ReadonlyMap<string, VolumeStatus>,
): readonly VolumeStatus[] {
  const claim = stateClaim(view);
  if (!claim) return [];
  const status = before.get(stateVolumeName) ?? before.get(claim.metadata?.name ?? "");
  return status ? [{ ...status, name: stateVolumeName }] : [];
}

function withMemoryDump(status: VolumeStatus, { name, memoryDump }: Volume): VolumeStatus {
  if (!memoryDump || status.memoryDumpVolume) return status;
  return { ...status, memoryDumpVolume: { claimName: name } };
}

function withClaim(
  { view }: VmiPass,
  volume: Volume,
  status: VolumeStatus,
  isUtility: boolean,
): VolumeStatus | string {
  const claim = claimNamed(view, claimNameOf(volume));
  if (!claim) return status;
  if (isUtility && isBlockClaim(claim.spec)) {
    const message = `claim ${claim.metadata?.name} is a block device, but a utility volume must hold files`;
    return { ...status, phase: "Pending", reason: "PVCNotReady", message };
  }
  const persistentVolumeClaimInfo = claimInfo(view, claim);
  return typeof persistentVolumeClaimInfo === "string"
    ? persistentVolumeClaimInfo
    : { ...status, persistentVolumeClaimInfo };
}
