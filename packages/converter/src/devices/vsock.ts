import type { Configurator, Draft } from "../draft.ts";

export const vsock: Configurator = {
  name: "vsock",
  summary: "A VSOCK device, once the controller has given the guest an address.",
  configure({ vmi, domain }: Draft): void {
    const address = vmi.status?.VSOCKCID ?? undefined;
    if (address === undefined) return;
    domain.devices.vsock = {
      // vhost-vsock has no transitional model on any architecture.
      model: "virtio-non-transitional",
      cid: { auto: "no", address: address || undefined },
    };
  },
};
