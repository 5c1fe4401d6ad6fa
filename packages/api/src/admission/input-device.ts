import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, each, fine, invalid, join, quote } from "./cause.ts";

/** The only input device is a tablet, on USB or virtio. */
export function inputDevices(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const inputs = spec.domain.devices.inputs;
  if (!inputs?.length) return fine;
  return each(inputs, (input, i) => {
    const field = `${at}.domain.devices.inputs[${i}]`;
    return join(bus(input.bus, `${field}.bus`), type(input.type, `${field}.type`));
  });
}

function bus(found: string | undefined, field: string): readonly Cause[] {
  if (!found || found === "virtio" || found === "usb") return fine;
  return invalid(field, `is ${quote(found)}; use usb, virtio, or leave it out`);
}

function type(found: string | undefined, field: string): readonly Cause[] {
  if (found === "tablet") return fine;
  return invalid(field, `is ${quote(found ?? "")}; the only input device is a tablet`);
}
