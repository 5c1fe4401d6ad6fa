import type { Configurator, Draft } from "../draft.ts";

export const channels: Configurator = {
  name: "channels",
  summary:
    "Channels for the guest agent, whose socket libvirt chooses, and for the host's metrics.",
  configure({ devices, paths, domain }: Draft): void {
    domain.devices.channels.push({
      type: "unix",
      source: undefined,
      target: { type: "virtio", name: "org.qemu.guest_agent.0" },
    });
    if (!devices.downwardMetrics) return;
    domain.devices.channels.push({
      type: "unix",
      source: { mode: "bind", path: paths.downwardMetricsSocket },
      target: { type: "virtio", name: "org.github.vhostmd.1" },
    });
  },
};
