import { object, type Schema, string } from "../schema.ts";

/** The board that QEMU emulates. */
export interface Machine {
  /** For example `q35`, `virt` or `s390-ccw-virtio`; the cluster's default if absent. */
  type?: string;
}

export const MachineSchema: Schema<Machine> = object<Machine>({
  type: string,
});
