import type { Input } from "@virtkit/api/schema";
import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import { userAlias } from "../model/alias.ts";
import type { DomainInput } from "../model/display-device.ts";

export const inputs: Configurator = {
  name: "inputs",
  summary: "Tablets that the VMI asks for, and what a display needs on its architecture.",
  configure({ devices, architecture, domain }: Draft): void {
    const wanted = devices.inputs ?? [];
    for (const [at, input] of wanted.entries()) domain.devices.inputs.push(inputOf(input, at));
    if (devices.autoattachGraphicsDevice === false) return;
    for (const input of architecture.screenInputs(wanted)) domain.devices.inputs.push(input);
  },
};

function inputOf({ name, type, bus }: Input, at: number): DomainInput {
  const path = `spec.domain.devices.inputs[${at}]`;
  const found = bus || "usb";
  if (found !== "usb" && found !== "virtio") {
    throw invalidVmi(`${path}.bus`, `"${found}" is not a bus for inputs; use usb or virtio`);
  }
  if (type !== "tablet") {
    throw invalidVmi(`${path}.type`, `"${type}" is not a type of input; use tablet`);
  }
  return {
    type,
    bus: found,
    model: found === "virtio" ? "virtio" : undefined,
    alias: userAlias(name),
    address: undefined,
  };
}
