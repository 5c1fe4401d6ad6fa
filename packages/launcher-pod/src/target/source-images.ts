import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { LauncherPodError } from "../launcher-pod-error.ts";
import type { ContainerStatus, ExistingPod } from "../pod/pod.ts";
import { imageContainerName, kernelBootVolume } from "../volumes/container-disk-names.ts";

const prefix = imageContainerName("");

/**
 * By volume, the exact images that the source of a migration runs, so that the target runs the same ones even
 * if a tag has moved. An image without a status stays as the VMI names it. Throws if a status has no digest.
 */
export function sourceImages(
  { spec }: VirtualMachineInstance,
  source: ExistingPod,
  imageVolumes: boolean,
): ReadonlyMap<string, string> {
  const images = new Map<string, string>();
  for (const { name, containerDisk } of spec.volumes ?? []) {
    if (containerDisk) images.set(name, containerDisk.image);
  }
  const kernel = spec.domain.firmware?.kernelBoot?.container;
  if (kernel) images.set(kernelBootVolume, kernel.image);
  if (imageVolumes) takePinnedVolumes(images, source);
  for (const status of imageStatuses(source, imageVolumes)) pin(images, status);
  return images;
}

/** After a first migration the Pod's volumes themselves name the digest. */
function takePinnedVolumes(images: Map<string, string>, { spec }: ExistingPod): void {
  for (const { name, image } of spec?.volumes ?? []) {
    const reference = image?.reference;
    if (reference?.includes("@sha256:") && images.has(name)) images.set(name, reference);
  }
}

function imageStatuses({ status }: ExistingPod, imageVolumes: boolean): ContainerStatus[] {
  const running = status?.containerStatuses ?? [];
  return imageVolumes ? [...running, ...(status?.initContainerStatuses ?? [])] : [...running];
}

function pin(images: Map<string, string>, { name, imageID = "" }: ContainerStatus): void {
  if (!name.startsWith(prefix)) return;
  const volume = name.slice(prefix.length);
  const image = images.get(volume);
  if (image === undefined) return;
  const digest = /sha256:([a-zA-Z0-9]+)/.exec(imageID)?.[1];
  if (digest === undefined) {
    const message = `container "${name}" of the source Pod has the image ID "${imageID}", which has no digest; without it the target might run another image`;
    throw new LauncherPodError("LAUNCHER_POD_SOURCE_INVALID", message, { path: "spec.volumes" });
  }
  images.set(volume, `${repositoryOf(image)}@sha256:${digest}`);
}

/** An image without its tag or digest. A colon before the last slash belongs to a port. */
function repositoryOf(image: string): string {
  const digest = image.indexOf("@sha256:");
  if (digest >= 0) return image.slice(0, digest);
  const colon = image.lastIndexOf(":");
  return colon > image.lastIndexOf("/") ? image.slice(0, colon) : image;
}
