import { part } from "../explain.ts";
import type { LauncherRequest } from "../launcher-request.ts";
import { asUser, type Container, unprivileged } from "../pod/container.ts";
import type { PodDraft, Step } from "../pod-draft.ts";
import { type SupportDefaults, supportResources } from "../resources/support-resources.ts";
import {
  imageContainerName,
  isPinned,
  kernelBootVolume,
  launcherBinaryVolume,
} from "../volumes/container-disk-names.ts";
import { userEnvironment } from "./compute-container.ts";

/** An image with a disk or a kernel. */
interface DiskImage {
  readonly volume: string;
  readonly image: string;
  readonly pullPolicy: string | undefined;
  /** Name under which the node agent finds the image's content. */
  readonly target: string;
  /** Field of the VMI, for explanations. */
  readonly from: string;
}

const diskDefaults: SupportDefaults = {
  type: "container-disk",
  requests: { cpu: "1m", memory: "1M" },
  limits: { cpu: "10m", memory: "40M" },
};

const copyDefaults: SupportDefaults = {
  type: "container-disk",
  requests: { cpu: "10m", memory: "1M" },
  limits: { cpu: "100m", memory: "40M" },
};

/** As above, where requests must equal limits. */
const guaranteedCopyDefaults: SupportDefaults = {
  ...copyDefaults,
  limits: { cpu: "10m", memory: "40M" },
};

const binaryShare = "virt-bin-share-dir";
const containerDisks = "container-disks";

/** Where an init container finds the launcher's image. */
const binaryMount = "/container-disk-binary";

/**
 * Containers for containerDisks and kernel images.
 *
 * With image volumes: an init container for each image whose digest is unknown, only so that the Pod's status
 * shows the digest. Without: one init container copies a program into a shared directory, one per image makes
 * sure that it can be pulled, and one container per image holds it open.
 */
export const containerDiskContainers: Step = (request, draft) => {
  const images = diskImages(request);
  if (request.imageVolumes) {
    for (const image of images) {
      if (!isPinned(request, image.volume)) addDigestContainer(request, draft, image);
    }
    return;
  }
  if (images.length === 0) return;
  addCopyContainer(request, draft);
  for (const image of images) addHoldingContainers(request, draft, image);
};

function diskImages({ spec, domain, imageVolumes }: LauncherRequest): DiskImage[] {
  const images: DiskImage[] = [];
  for (const [index, { name, containerDisk }] of (spec.volumes ?? []).entries()) {
    if (!containerDisk || (name === kernelBootVolume && !imageVolumes)) continue;
    images.push({
      volume: name,
      image: containerDisk.image,
      pullPolicy: containerDisk.imagePullPolicy,
      target: `disk_${index}`,
      from: `vmi.spec.volumes[${index}].containerDisk`,
    });
  }
  const kernel = domain.firmware?.kernelBoot?.container;
  if (kernel) {
    images.push({
      volume: kernelBootVolume,
      image: kernel.image,
      pullPolicy: kernel.imagePullPolicy,
      target: "kernel-boot",
      from: "vmi.spec.domain.firmware.kernelBoot.container",
    });
  }
  return images;
}

function addDigestContainer(request: LauncherRequest, draft: PodDraft, image: DiskImage): void {
  const { profile, explain } = request;
  const name = imageContainerName(image.volume);
  const container = imageContainer(request, name, image.image, image.pullPolicy);
  container.command = [`${binaryMount}${profile.programs.containerDisk}`];
  container.args = ["--no-op"];
  container.volumeMounts = [{ name: launcherBinaryVolume, readOnly: true, mountPath: binaryMount }];
  draft.initContainers.push(container);
  explain?.(part.initContainer(name), image.from, "reports the image's digest");
}

/** Puts the program that holds images open where the images' containers can start it. */
function addCopyContainer(request: LauncherRequest, { initContainers }: PodDraft): void {
  const { profile, config, guaranteed, nonRoot, explain } = request;
  const program = profile.programs.containerDisk;
  const env = userEnvironment(request);
  const defaults = guaranteed ? guaranteedCopyDefaults : copyDefaults;
  initContainers.push({
    name: "container-disk-binary",
    image: profile.image,
    command: ["/usr/bin/cp", "--preserve=all", program, `/init${program}`],
    ...(env.length > 0 ? { env } : {}),
    resources: supportResources(config, defaults, guaranteed),
    volumeMounts: [{ name: binaryShare, mountPath: "/init/usr/bin" }],
    terminationMessagePolicy: "FallbackToLogsOnError",
    imagePullPolicy: config.imagePullPolicy,
    securityContext: {
      capabilities: { drop: ["ALL"] },
      ...(nonRoot ? asUser(profile.userId) : { runAsUser: 0, runAsNonRoot: false }),
    },
  });
  explain?.(
    part.initContainer("container-disk-binary"),
    "config.developerConfiguration.featureGates[ImageVolume]",
    "without image volumes a program of the launcher holds images open",
  );
}

function addHoldingContainers(request: LauncherRequest, draft: PodDraft, disk: DiskImage): void {
  const { profile, uid, pinnedImages, explain } = request;
  const name = imageContainerName(disk.volume);
  const directory = `${profile.directories.containerDisks}/${uid}`;
  const image = pinnedImages.get(disk.volume) ?? disk.image;
  const holding = (containerName: string, args: string[]): Container => {
    const container = imageContainer(request, containerName, image, disk.pullPolicy);
    container.command = [profile.programs.containerDisk];
    container.args = args;
    container.volumeMounts = [
      { name: containerDisks, mountPath: directory },
      { name: binaryShare, mountPath: "/usr/bin" },
    ];
    return container;
  };
  draft.initContainers.push(holding(`${name}-init`, ["--no-op"]));
  draft.helpers.push(holding(name, ["--copy-path", `${directory}/${disk.target}`]));
  explain?.(
    part.initContainer(`${name}-init`),
    disk.from,
    "makes sure that the image can be pulled",
  );
  explain?.(part.container(name), disk.from, "holds the image open for the node agent");
}

function imageContainer(
  { config, guaranteed, profile }: LauncherRequest,
  name: string,
  image: string,
  imagePullPolicy: string | undefined,
): Container {
  const resources = supportResources(config, diskDefaults, guaranteed);
  resources.requests["ephemeral-storage"] = "50M";
  const container: Container = { name, resources, securityContext: unprivileged(profile.userId) };
  if (image) container.image = image;
  if (imagePullPolicy) container.imagePullPolicy = imagePullPolicy;
  return container;
}
