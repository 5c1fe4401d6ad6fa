import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

describe("features", () => {
  test("are empty if the VMI has none", () => {
    expect(domainWith().features).toEqual({});
  });

  test("have ACPI by default, and no vmport on x86", () => {
    expect(domainWith({ domain: { features: {} } }).features).toEqual({
      acpi: true,
      vmport: { state: "off" },
    });
    const off = { acpi: { enabled: false } };
    expect(domainWith({ architecture: "arm64", domain: { features: off } }).features).toEqual({});
  });

  test("have what the VMI mentions", () => {
    const features = {
      acpi: {},
      apic: { endOfInterrupt: true },
      smm: { enabled: false },
      kvm: { hidden: true },
      pvspinlock: { enabled: false },
    };
    expect(domainWith({ domain: { features } }).features).toMatchObject({
      apic: true,
      kvm: { hidden: { state: "on" } },
      pvspinlock: { state: "off" },
    });
    expect(domainWith({ domain: { features } }).features?.smm).toBeUndefined();
  });

  test("have no performance counters under TDX", () => {
    const context = { useLaunchSecurityTDX: true };
    expect(domainWith({ domain: { features: {} }, context }).features?.pmu).toEqual({
      state: "off",
    });
  });

  test("pass Hyper-V through on request, but not together with explicit enlightenments", () => {
    const hypervPassthrough = { enabled: true };
    const mode = (features: object): string | undefined =>
      domainWith({ domain: { features } }).features?.hyperv?.mode;
    expect(mode({ hypervPassthrough })).toBe("passthrough");
    expect(mode({ hypervPassthrough, hyperv: {} })).toBeUndefined();
    expect(mode({ hypervPassthrough: { enabled: false } })).toBeUndefined();
  });

  test("fail with a passthrough that is neither on nor off, where KubeVirt crashes", () => {
    expect(errorPath({ domain: { features: { hypervPassthrough: {} } } })).toBe(
      "spec.domain.features.hypervPassthrough.enabled",
    );
  });
});
