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

  test("is what QEMU can emulate where the host is of another architecture", () => {
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

  test("turns mpx off in named x86 models only, and only if the VMI does not speak of it", () => {
    const features = (model: string, architecture = "amd64"): unknown =>
      domainWith({ architecture, domain: { cpu: { model } } }).cpu.features;
    expect(features("Haswell")).toEqual([{ name: "mpx", policy: "disable" }]);
    expect(features("host-model")).toEqual([]);
    expect(features("cortex-a72", "arm64")).toEqual([]);
    const stated = [{ name: "mpx", policy: "force" }];
    expect(domainWith({ domain: { cpu: { features: stated } } }).cpu.features).toEqual(stated);
  });

  test("has a flag of an empty name where the VMI leaves it out", () => {
    const cpu = { model: "host-model", features: [{ policy: "force" }] as never };
    expect(domainWith({ domain: { cpu } }).cpu.features).toEqual([{ name: "", policy: "force" }]);
  });

  test("lists every CPU where some can be plugged in later; the first socket stays", () => {
    const cpu = { sockets: 1, cores: 2, threads: 1, maxSockets: 3 };
    const domain = domainWith({ domain: { cpu } });
    expect(domain.vcpu).toEqual({ placement: "static", count: 6 });
    expect(domain.cpu.topology).toEqual({ sockets: 3, cores: 2, threads: 1 });
    expect(
      domain.vcpus?.vcpu.map(({ enabled, hotpluggable }) => `${enabled} ${hotpluggable}`),
    ).toEqual(["yes no", "yes no", "no yes", "no yes", "no yes", "no yes"]);
  });

  test("is an error with more CPUs than could be listed", () => {
    expect(errorPath({ domain: { cpu: { sockets: 1, maxSockets: 4_000_000_000 } } })).toBe(
      "spec.domain.cpu",
    );
  });

  test("cannot be plugged in on arm64", () => {
    const domain = domainWith({
      architecture: "arm64",
      domain: { cpu: { sockets: 1, maxSockets: 4 } },
    });
    expect(domain.vcpu?.count).toBe(1);
    expect(domain.vcpus).toBeUndefined();
  });
});
