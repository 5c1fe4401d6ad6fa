import { object, type Schema, string } from "../schema.ts";

/** The board that QEMU emulates. */
export interface Machine {
  type?: string;
}

export const MachineSchema: Schema<Machine> = object<Machine>({
  type: string,
});
