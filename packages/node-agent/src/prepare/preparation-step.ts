import type { HostDiskStep } from "@virtkit/domain-manager/disks";
import type { DeviceRule } from "@virtkit/host-primitives/device-rules";
import type { FileType } from "@virtkit/host-primitives/safe-path";
import type { SelinuxContext } from "@virtkit/host-primitives/selinux";

/**
 * One thing that is done to a sandbox before its guest starts. Plain data: printable, comparable, and
 * kept in the journal. Paths are as the sandbox sees them.
 */
export type PreparationStep = { readonly id: string } & (
  | /** A directory for what is mounted next. Goes when it is empty again. */
  {
      readonly kind: "directory";
      readonly path: string;
      readonly mode: number;
      /** Default: root. */
      readonly owner?: { readonly uid: number; readonly gid: number };
    }
  /** A file of a container is mounted, read-only, where the launcher expects it. */
  | {
      readonly kind: "bind";
      /** Name of the volume, or undefined for the kernel boot container. */
      readonly volume?: string;
      /** Path below the container's root, without links. */
      readonly source: string;
      readonly target: string;
      /** An image is looked at once more when it is opened to be mounted; a kernel is not one. */
      readonly image: boolean;
    }
  /** The Pod's network becomes the guest's. It has a journal of its own. */
  | { readonly kind: "network" }
  /** The launcher's user becomes the owner of what is the sandbox's own. Goes with the Pod. */
  | {
      readonly kind: "own";
      readonly path: string;
      readonly types: readonly FileType[];
      readonly uid: number;
      readonly gid: number;
    }
  | { readonly kind: "mode"; readonly path: string; readonly mode: number }
  /** An image is made unless it is there. Never removed: it holds what the guest wrote. */
  | { readonly kind: "hostDisk"; readonly disk: Omit<HostDiskStep, "size">; readonly bytes: string }
  | { readonly kind: "label"; readonly path: string; readonly context: SelinuxContext }
  /** Only these devices can be used in the sandbox. Goes with its cgroup. */
  | { readonly kind: "devices"; readonly rules: readonly DeviceRule[] }
  /** Memory that the sandbox's processes may lock, in bytes. Goes with them. */
  | { readonly kind: "memlock"; readonly bytes: string }
  /** Sockets of the guest's DHCP and router are opened and handed to the launcher, each time anew. */
  | { readonly kind: "sockets" }
);

/** Whether a step is the network's: those come after all others. */
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
