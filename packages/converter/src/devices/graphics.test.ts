import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

const efi = { firmware: { bootloader: { efi: {} } } };

describe("graphics", () => {
  test("are served on the guest's own VNC socket", () => {
    expect(domainWith().devices.graphics).toEqual([
      { type: "vnc", listen: { type: "socket", socket: "/var/run/kubevirt-private/u1/virt-vnc" } },
    ]);
  });

  test.each([
    ["a PC with a BIOS", {}, { type: "vga", heads: 1, vram: 16384 }],
    [
      "a PC with EFI",
      { domain: efi, context: { bochsForEFIGuests: true } },
      { type: "bochs", heads: 1 },
    ],
    [
      "a PC with EFI, as the cluster configures it",
      { domain: efi },
      { type: "vga", heads: 1, vram: 16384 },
    ],
    ["arm64", { architecture: "arm64" }, { type: "virtio", heads: 1 }],
    ["s390x", { architecture: "s390x" }, { type: "virtio", heads: 1 }],
    [
      "a VMI that names one",
      { devices: { video: { type: "qxl" } } },
      { type: "qxl", heads: 1, vram: 16384 },
    ],
  ])("use the card of %s", (_what, changes, model) => {
    expect(domainWith(changes).devices.videos).toEqual([{ model }]);
  });

  test.each([
    { devices: { autoattachGraphicsDevice: false } },
    {
      architecture: "arm64",
      context: {
        allowCrossArchEmulation: true,
        hostArchitecture: "amd64",
        host: { emulatorBinaries: ["/usr/bin/qemu-system-aarch64"] },
      },
    },
  ])("are left out with %j", (changes) => {
    const { graphics, videos } = domainWith(changes).devices;
    expect([graphics, videos]).toEqual([[], []]);
  });
});
