import { proveKvm } from "./prove-kvm.ts";

/** Who executes the guest's instructions: the processor, or QEMU. */
export type Accel = "kvm" | "tcg";

/** What a user may ask for. */
export const accelChoices = ["auto", "kvm", "tcg"] as const;
export type AccelChoice = (typeof accelChoices)[number];

/** The accelerator for a choice; `auto` uses KVM if it works, and otherwise says why not. */
export async function chooseAccel(
  choice: AccelChoice,
): Promise<{ readonly accel: Accel; readonly reason?: string }> {
  if (choice !== "auto") return { accel: choice };
  const { usable, reason } = await proveKvm();
  return usable ? { accel: "kvm" } : { accel: "tcg", reason };
}
