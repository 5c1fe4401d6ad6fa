import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

const missing = { hypervisorDeviceAvailable: false };
const mshv = { hypervisorName: "hyperv-direct" };

describe("hypervisor", () => {
  test.each([
    [{}, "kvm"],
    [{ ...missing, allowEmulation: true }, "qemu"],
    [mshv, "hyperv"],
    [{ ...mshv, ...missing, allowEmulation: true }, "qemu"],
  ])("with %j is %s", (context, type) => {
    expect(domainWith({ context }).type).toBe(type);
  });

  test.each([missing, { ...mshv, ...missing }])("fails without its device: %j", (context) => {
    expect(errorPath({ context })).toBe("allowEmulation");
  });

  const cross = { hostArchitecture: "amd64", allowCrossArchEmulation: true };

  test("emulates another architecture with an emulator that is installed", () => {
    const host = { emulatorBinaries: ["/usr/bin/qemu-system-s390x"] };
    const domain = domainWith({ architecture: "s390x", context: { ...cross, host } });
    expect(domain.type).toBe("qemu");
    expect(domain.devices.emulator).toBe("/usr/bin/qemu-system-s390x");
    expect(errorPath({ architecture: "arm64", context: { ...cross, host } })).toBe(
      "host.emulatorBinaries",
    );
    expect(errorPath({ architecture: "riscv64", context: { ...cross, host } })).toBe(
      "spec.architecture",
    );
  });

  test("needs no separate emulator for the host's architecture", () => {
    expect(domainWith({ context: cross }).devices.emulator).toBeUndefined();
  });
});
