import type { ImageInfo } from "@virtkit/domain-manager/disks/images";
import type { DeviceRule } from "@virtkit/host-primitives/device-rules";
import type { FileType } from "@virtkit/host-primitives/safe-path";
import type { SelinuxState } from "@virtkit/host-primitives/selinux";

/** An image found in a container. */
export interface FoundImage extends ImageInfo {
  /** Path below the container's root, after links. */
  readonly path: string;
}

/** What must be known about a sandbox to plan its preparation. Plain data. */
export interface PreparationFacts {
  /** What is at the paths named by `pathsToLookAt`; missing ones are left out. */
  readonly entries: Readonly<Record<string, FileType>>;
  /** Names in `/dev/vfio`. */
  readonly vfio: readonly string[];
  /** Images of container disks, by volume. */
  readonly images: Readonly<Record<string, FoundImage>>;
  /** Paths in the kernel boot container, after links. */
  readonly kernelBoot: Readonly<Partial<Record<"kernel" | "initrd", string>>>;
  /** Whether the sandbox has such images as its own volumes. */
  readonly imageVolumes: boolean;
  readonly selinux: SelinuxState;
  /** What the sandbox's devices need; absent if the agent does not limit their use. */
  readonly deviceRules?: readonly DeviceRule[];
}

/** The facts of an empty sandbox. */
export const noFacts: PreparationFacts = {
  entries: {},
  vfio: [],
  images: {},
  kernelBoot: {},
  imageVolumes: false,
  selinux: "disabled",
};
