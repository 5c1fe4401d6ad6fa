import { part } from "../explain.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import type { PodVolume } from "../pod/volume.ts";
import type { PodDraft, Step } from "../pod-draft.ts";
import { isPinned, kernelBootVolume, launcherBinaryVolume } from "./container-disk-names.ts";

/** containerDisks and kernel images as volumes of type image, and the launcher's own image beside them. */
export const imageVolumes: Step = (request, draft) => {
  if (!request.imageVolumes) return;
  const { spec, domain, profile, explain } = request;
  let digestUnknown = false;
  for (const [index, { name, containerDisk }] of (spec.volumes ?? []).entries()) {
    if (!containerDisk) continue;
    digestUnknown ||= !isPinned(request, name);
    addImage(request, draft, name, containerDisk.image, containerDisk.imagePullPolicy);
    draft.mounts.push({
      name,
      readOnly: true,
      mountPath: `${profile.directories.imageVolumes}/disk_${index}`,
    });
    explain?.(part.volume(name), `vmi.spec.volumes[${index}].containerDisk`, "the disk's image");
  }
  const kernel = domain.firmware?.kernelBoot?.container;
  if (kernel) {
    digestUnknown ||= !isPinned(request, kernelBootVolume);
    addImage(request, draft, kernelBootVolume, kernel.image, kernel.imagePullPolicy);
    draft.mounts.push({
      name: kernelBootVolume,
      readOnly: true,
      mountPath: profile.directories.kernelBoot,
    });
    explain?.(
      part.volume(kernelBootVolume),
      "vmi.spec.domain.firmware.kernelBoot.container",
      "the image with the kernel",
    );
  }
  if (digestUnknown) addLauncherBinary(request, draft);
};

function addImage(
  { pinnedImages }: LauncherRequest,
  { volumes }: PodDraft,
  name: string,
  image: string,
  pullPolicy: string | undefined,
): void {
  volumes.push(imageVolume(name, pinnedImages.get(name) ?? image, pullPolicy));
}

/** Init containers that determine a digest run a program of the launcher inside the disk's image. */
function addLauncherBinary(request: LauncherRequest, { volumes }: PodDraft): void {
  const { profile, config, explain } = request;
  volumes.push(imageVolume(launcherBinaryVolume, profile.image, config.imagePullPolicy));
  explain?.(
    part.volume(launcherBinaryVolume),
    "profile.image",
    "has the program that init containers of unpinned images run",
  );
}

function imageVolume(name: string, reference: string, pullPolicy: string | undefined): PodVolume {
  const image: NonNullable<PodVolume["image"]> = {};
  if (reference) image.reference = reference;
  if (pullPolicy) image.pullPolicy = pullPolicy;
  return { name, image };
}
