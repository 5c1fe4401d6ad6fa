import type { HostDiskStep } from "@virtkit/domain-manager/disks";
import type { DeviceRule } from "@virtkit/host-primitives/device-rules";
import type { FileType } from "@virtkit/host-primitives/safe-path";
import type { SelinuxContext } from "@virtkit/host-primitives/selinux";

/**
 * One thing that is done to a sandbox before its guest starts. Plain data: printable, comparable, and kept in the
 * journal. Paths are as the sandbox sees them.
 */
export type PreparationStep = { readonly id: string } & (
  | /** A directory for the next mounts. Removed when it is empty again. */
  {
      readonly kind: "directory";
      readonly path: string;
      readonly mode: number;
      /** Default: root. */
      readonly owner?: { readonly uid: number; readonly gid: number };
    }
  /** Mounts a container's file, read-only, where the launcher expects it. */
  | {
      readonly kind: "bind";
      /** Name of the volume, or undefined for the kernel boot container. */
      readonly volume?: string;
      /** Path below the container's root, without links. */
      readonly source: string;
      readonly target: string;
      /** An image is checked once more when it is opened for the mount; a kernel is not an image. */
      readonly image: boolean;
    }
  /** Connects the Pod's network to the guest. It has its own journal. */
  | { readonly kind: "network" }
  /** Makes the launcher's user the owner of something in the sandbox. Goes with the Pod. */
  | {
      readonly kind: "own";
      readonly path: string;
      readonly types: readonly FileType[];
      readonly uid: number;
      readonly gid: number;
    }
  | { readonly kind: "mode"; readonly path: string; readonly mode: number }
  /** Creates an image unless it exists. Never removed: it holds what the guest wrote. */
  | { readonly kind: "hostDisk"; readonly disk: Omit<HostDiskStep, "size">; readonly bytes: string }
  | { readonly kind: "label"; readonly path: string; readonly context: SelinuxContext }
  /** Limits the sandbox to these devices. Goes with its cgroup. */
  | { readonly kind: "devices"; readonly rules: readonly DeviceRule[] }
  /** Memory that the sandbox's processes may lock, in bytes. Goes with them. */
  | { readonly kind: "memlock"; readonly bytes: string }
  /** Opens the sockets of the guest's DHCP and router, and hands them to the launcher; repeated on every call. */
  | { readonly kind: "sockets" }
);

/** Whether a step belongs to the network: those come after all others. */
export function isNetworkStep({ kind }: PreparationStep): boolean {
  return kind === "network" || kind === "sockets";
}

/** A step as a line of text, for people. */
export function stepText(step: PreparationStep): string {
  switch (step.kind) {
    case "directory":
      return `make directory ${step.path}${step.owner ? ` of ${step.owner.uid}:${step.owner.gid}` : ""}`;
    case "bind":
      return `mount ${step.volume ?? "kernel-boot"}:${step.source} on ${step.target} (read-only)`;
    case "network":
      return "wire the Pod's network to the guest";
    case "own":
      return `give ${step.path} to ${step.uid}:${step.gid}`;
    case "mode":
      return `set the mode of ${step.path} to ${step.mode.toString(8).padStart(4, "0")}`;
    case "hostDisk":
      return `make ${step.disk.directory}/${step.disk.file} (${step.bytes} bytes) unless it is there`;
    case "label":
      return `label ${step.path} ${step.context.type}:${step.context.level ?? ""}`;
    case "devices":
      return `allow ${step.rules.length} kinds of devices and no others`;
    case "memlock":
      return `let the sandbox's processes lock ${step.bytes} bytes of memory`;
    case "sockets":
      return "hand the sockets of the guest's DHCP and router to the launcher";
  }
}
