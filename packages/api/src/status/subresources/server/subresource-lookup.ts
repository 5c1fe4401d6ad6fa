import type { AppliedInstancetype } from "../../../admission/index.ts";
import type { VirtualMachine, VirtualMachineInstance } from "../../../schema/index.ts";

/** The objects that requests need. Each read is live; a failed read rejects. */
export interface SubresourceLookup {
  virtualMachine(namespace: string, name: string): Promise<VirtualMachine | undefined>;
  virtualMachineInstance(
    namespace: string,
    name: string,
  ): Promise<VirtualMachineInstance | undefined>;
  /** The address of the node's agent; `undefined` if none is ready. */
  nodeAgent(node: string): Promise<string | undefined>;
  /** The Node of that name. */
  node(name: string): Promise<unknown>;
  persistentVolumeClaim(namespace: string, name: string): Promise<unknown>;
  /** Claims with that label. */
  persistentVolumeClaims(
    namespace: string,
    label: { readonly key: string; readonly value: string },
  ): Promise<readonly unknown[]>;
  /** Launcher Pods of the namespace. */
  launcherPods(namespace: string): Promise<readonly unknown[]>;
  /** CDI's configuration; `undefined` if CDI is not installed. */
  cdiConfig(): Promise<unknown>;
  /** What the VM refers to for its size and devices, or what of it does not exist. */
  instancetypeOf(vm: VirtualMachine): Promise<AppliedInstancetype | { readonly missing: string }>;
}
