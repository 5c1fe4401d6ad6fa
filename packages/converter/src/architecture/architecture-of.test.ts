import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";
import { architectureOf } from "./architecture-of.ts";

describe("architectureOf", () => {
  test.each(["amd64", "arm64", "s390x"])("knows %s", (name) => {
    expect(architectureOf(name).name).toBe(name);
  });

  test.each(["riscv64", "", "toString"])("treats %j as amd64", (name) => {
    expect(architectureOf(name).name).toBe("amd64");
  });
});

describe("an architecture", () => {
  test.each([
    ["amd64", "x86_64", "q35", "virtio-non-transitional", "virtio-non-transitional"],
    ["arm64", "aarch64", "virt", "virtio-non-transitional", "virtio-non-transitional"],
    ["s390x", "s390x", "s390-ccw-virtio", "virtio", "virtio-scsi"],
  ])("%s has its machine and its virtio models", (architecture, arch, machine, virtio, scsi) => {
    const domain = domainWith({ architecture, devices: { rng: {} } });
    expect(domain.os.type).toMatchObject({ arch, machine, os: "hvm" });
    expect(domain.devices.rng?.model).toBe(virtio);
    expect(domain.devices.controllers.find(({ type }) => type === "scsi")?.model).toBe(scsi);
  });

  test("without PCI does not use transitional devices", () => {
    const devices = { rng: {}, useVirtioTransitional: true };
    expect(domainWith({ devices }).devices.rng?.model).toBe("virtio-transitional");
    expect(domainWith({ architecture: "s390x", devices }).devices.rng?.model).toBe("virtio");
  });
});
