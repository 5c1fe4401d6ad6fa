import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, fine, invalid, quote } from "./cause.ts";

/** `spec.startStrategy` can only be Paused, and a paused guest cannot answer a liveness probe. */
export function startStrategy(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const field = `${at}.startStrategy`;
  if (!isSet(spec.startStrategy)) return fine;
  if (spec.startStrategy !== "Paused") {
    return invalid(
      field,
      `is ${quote(spec.startStrategy)}; the only value is Paused, or leave it out`,
    );
  }
  if (!spec.livenessProbe) return fine;
  return invalid(
    field,
    `is Paused, but ${at}.livenessProbe is set; the probe would kill a guest that has not started; remove one of them`,
  );
}
