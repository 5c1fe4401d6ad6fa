import { at, object, text } from "@virtkit/api/shape";
import { legacyFirmwareUuid } from "@virtkit/api/status";
import { valuePatch } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import { withTemplate } from "./template-change.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** Stores the firmware UUID that the guest has seen, so that it survives a rename of the VM. */
export function storeFirmwareUuid(pass: VmPass): Stop | undefined {
  const before = at(pass.vm, "spec", "template", "spec", "domain", "firmware");
  if (text(at(before, "uuid")) !== "") return undefined;
  const firmware = { ...object(before), uuid: legacyFirmwareUuid(nameOf(pass.vm).name) };
  const refusal = pass.patchVm(valuePatch("/spec/template/spec/domain/firmware", before, firmware));
  if (refusal) {
    return failed("FirmwareUUIDError", `the UUID could not be stored: ${refusal.message}`);
  }
  pass.storedSpec = withTemplate(
    { ...pass.vm, spec: pass.storedSpec },
    ["domain", "firmware"],
    firmware,
  ).spec;
  pass.vm = withTemplate(pass.vm, ["domain", "firmware"], firmware);
  return undefined;
}
