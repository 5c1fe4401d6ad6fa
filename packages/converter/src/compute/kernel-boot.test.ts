import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("kernel and initial RAM disk are files of the container, whatever their directory", () => {
  const container = { image: "k", kernelPath: "/boot/vmlinuz", initrdPath: "initrd" };
  const { os } = domainWith({
    domain: { firmware: { kernelBoot: { container, kernelArgs: "ro" } } },
  });
  expect(os).toMatchObject({
    kernel: "/var/run/kubevirt/container-disks/kernel-boot/vmlinuz",
    initrd: "/var/run/kubevirt/container-disks/kernel-boot/initrd",
    cmdline: "ro",
  });
});

test("keeps arguments without a container", () => {
  const { os } = domainWith({ domain: { firmware: { kernelBoot: { kernelArgs: "quiet" } } } });
  expect(os.cmdline).toBe("quiet");
  expect(os.kernel).toBeUndefined();
});
