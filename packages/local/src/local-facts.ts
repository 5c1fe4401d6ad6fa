import type { HostFirmware } from "./host-firmware.ts";
import type { ProgramState } from "./host-programs.ts";
import type { Accel } from "./local-accel.ts";
import type { LocalArchitecture } from "./local-architecture.ts";

/** A file that the caller named, as an image or in place of a claim. */
export interface FileFact {
  readonly path?: string;
  /** Why it cannot be used, and what to do; absent if it can. */
  readonly problem?: { readonly found: string; readonly instead: string };
}

/** A file in place of a claim. */
export interface ClaimFact extends FileFact {
  readonly path: string;
  /** Whether the launcher's user may read it, and write to it. */
  readonly readable: boolean;
  readonly writable: boolean;
}

/** Where local mode keeps its files. */
export interface DirectoryFact {
  readonly path: string;
  /** Why nothing can be created there. */
  readonly problem?: string;
  readonly freeBytes: number;
  /** Files that can still be created; undefined if the file system has no such limit. */
  readonly freeFiles?: number;
}

/** What decides whether a VMI can run here, besides the VMI itself. */
export interface LocalFacts {
  readonly architecture: LocalArchitecture;
  readonly accel: Accel;
  /** Whether the kernel has `/dev/kvm`. */
  readonly hasKvm: boolean;
  /** All of the host's memory, or what this process's cgroup leaves of it. */
  readonly memoryBytes: number;
  readonly stateDirectory: DirectoryFact;
  readonly libvirtd: ProgramState;
  readonly qemu: ProgramState;
  /** Machine types that QEMU knows; empty if it does not say. */
  readonly machineTypes: readonly string[];
  /** Models of CPUs that libvirt knows; empty if it does not say. */
  readonly cpuModels: readonly string[];
  readonly swtpm: ProgramState;
  /** For the VMI's kind of boot. */
  readonly firmware: HostFirmware | undefined;
  /** By their names in the VMI. */
  readonly images: Readonly<Record<string, FileFact>>;
  /** By the names of the claims. */
  readonly claims: Readonly<Record<string, ClaimFact>>;
  /** Secrets and ConfigMaps of the VMI's namespace, such as `Secret/name`. */
  readonly objects: readonly string[];
}
