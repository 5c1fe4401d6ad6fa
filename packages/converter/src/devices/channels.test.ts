import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("the guest agent has a channel, and so have the host's metrics on request", () => {
  const agent = { type: "unix", target: { type: "virtio", name: "org.qemu.guest_agent.0" } };
  expect(domainWith().devices.channels).toEqual([agent]);
  expect(domainWith({ devices: { downwardMetrics: {} } }).devices.channels).toEqual([
    agent,
    {
      type: "unix",
      source: {
        mode: "bind",
        path: "/var/run/kubevirt-private/downwardmetrics-channel/downwardmetrics.sock",
      },
      target: { type: "virtio", name: "org.github.vhostmd.1" },
    },
  ]);
});
