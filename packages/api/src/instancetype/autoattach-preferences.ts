import type { VirtualMachineInstanceSpec, VirtualMachinePreferenceSpec } from "../schema/index.ts";
import { at, isSet } from "../shape.ts";
import { draftOf, part, setIfMissing } from "./spec-draft.ts";

const devices = ["GraphicsDevice", "MemBalloon", "PodInterface", "SerialConsole", "InputDevice"];

/**
 * The spec with what a preference says about devices that are attached automatically. It is applied before those
 * devices are added, and so before the rest of the preference. The spec that is passed in is not changed.
 */
export function autoattachPreferences(
  spec: VirtualMachineInstanceSpec,
  preference: VirtualMachinePreferenceSpec | undefined,
): VirtualMachineInstanceSpec {
  const preferred = at(preference, "devices");
  if (!isSet(preferred)) return spec;
  const draft = draftOf(spec);
  const target = part(draft, "domain", "devices");
  for (const device of devices) {
    setIfMissing(target, `autoattach${device}`, at(preferred, `preferredAutoattach${device}`));
  }
  return draft as unknown as VirtualMachineInstanceSpec;
}
