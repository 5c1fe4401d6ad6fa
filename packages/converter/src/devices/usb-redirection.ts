import type { Configurator, Draft } from "../draft.ts";

/** Slots for USB devices of a client; the number is part of the API. */
const places = 4;

export const usbRedirection: Configurator = {
  name: "usb-redirection",
  summary: "Sockets through which a client's USB devices reach the guest.",
  configure({ vmi, devices, paths, domain }: Draft): void {
    if (!devices.clientPassthrough) return;
    for (let place = 0; place < places; place++) {
      const path = paths.guestSocket(vmi.metadata?.uid ?? "", `virt-usbredir-${place}`);
      domain.devices.redirectedDevices.push({
        bus: "usb",
        type: "unix",
        source: { mode: "bind", path },
      });
    }
  },
};
