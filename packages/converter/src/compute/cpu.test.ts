import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

describe("cpu", () => {
  test.each([
    [undefined, { mode: "host-model" }],
    ["", { mode: "host-model" }],
    ["host-passthrough", { mode: "host-passthrough" }],
    ["Haswell", { mode: "custom", model: "Haswell" }],
  ])("of the model %j is %j", (model, expected) => {
    const cpu = model === undefined ? {} : { cpu: { model } };
    expect(domainWith({ domain: cpu }).cpu).toMatchObject(expected);
  });

  test("is QEMU's maximum if the host has another architecture", () => {
    const changes = {
      domain: { cpu: { model: "host-model" } },
      architecture: "arm64",
      context: {
        hostArchitecture: "amd64",
        allowCrossArchEmulation: true,
        host: { emulatorBinaries: ["/usr/bin/qemu-system-aarch64"] },
      },
    };
    expect(domainWith(changes).cpu).toMatchObject({ mode: "custom", model: "max" });
  });

  test("turns off mpx only in named x86 models, and only if the VMI does not mention it", () => {
    const features = (model: string, architecture = "amd64"): unknown =>
      domainWith({ architecture, domain: { cpu: { model } } }).cpu.features;
    expect(features("Haswell")).toEqual([{ name: "mpx", policy: "disable" }]);
    expect(features("host-model")).toEqual([]);
    expect(features("cortex-a72", "arm64")).toEqual([]);
    const stated = [{ name: "mpx", policy: "force" }];
    expect(domainWith({ domain: { cpu: { features: stated } } }).cpu.features).toEqual(stated);
  });

  test("has a flag with an empty name if the VMI leaves it out", () => {
    const cpu = { model: "host-model", features: [{ policy: "force" }] as never };
    expect(domainWith({ domain: { cpu } }).cpu.features).toEqual([{ name: "", policy: "force" }]);
  });

  test("lists every CPU if some can be plugged in later; the first socket stays", () => {
    const cpu = { sockets: 1, cores: 2, threads: 1, maxSockets: 3 };
    const domain = domainWith({ domain: { cpu } });
    expect(domain.vcpu).toEqual({ placement: "static", count: 6 });
    expect(domain.cpu.topology).toEqual({ sockets: 3, cores: 2, threads: 1 });
    expect(
      domain.vcpus?.vcpu.map(({ enabled, hotpluggable }) => `${enabled} ${hotpluggable}`),
    ).toEqual(["yes no", "yes no", "no yes", "no yes", "no yes", "no yes"]);
  });

  test("fails with more CPUs than could be listed", () => {
    expect(errorPath({ domain: { cpu: { sockets: 1, maxSockets: 4_000_000_000 } } })).toBe(
      "spec.domain.cpu",
    );
  });

  test("has no hotplug on arm64", () => {
    const domain = domainWith({
      architecture: "arm64",
      domain: { cpu: { sockets: 1, maxSockets: 4 } },
    });
    expect(domain.vcpu?.count).toBe(1);
    expect(domain.vcpus).toBeUndefined();
  });
});
