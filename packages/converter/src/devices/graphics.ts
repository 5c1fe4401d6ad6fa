import type { Configurator, Draft } from "../draft.ts";

export const graphics: Configurator = {
  name: "graphics",
  summary: "The display, on a VNC socket, and its graphics card.",
  configure({ vmi, spec, devices, context, paths, architecture, domain }: Draft): void {
    if (devices.autoattachGraphicsDevice === false) return;
    // The emulators for other architectures have no graphics cards.
    if (context.allowCrossArchEmulation) return;
    const socket = paths.guestSocket(vmi.metadata?.uid ?? "", "virt-vnc");
    domain.devices.graphics.push({ type: "vnc", listen: { type: "socket", socket } });
    domain.devices.videos.push(
      devices.video
        ? { model: { type: devices.video.type ?? "", heads: 1, vram: 16384 } }
        : architecture.video(spec, context),
    );
  },
};
