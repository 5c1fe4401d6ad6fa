import { expect, test } from "vitest";
import { kubevirtLauncherProfile } from "./kubevirt-profile.ts";
import { render, type Scene, type VmiParts, withGates } from "./testing/render.ts";

function command(parts: VmiParts, scene?: Scene): readonly string[] {
  return render(parts, scene).spec.containers[0]?.command ?? [];
}

test.each<[string, VmiParts, Scene]>([
  ["--run-as-nonroot", {}, {}],
  ["--image-volume", {}, {}],
  ["--allow-emulation", {}, { configuration: { developerConfiguration: { useEmulation: true } } }],
  ["--allow-cross-arch-emulation", {}, withGates("CrossArchitectureVirtualization")],
  ["--vgpu-dedicated-hook", {}, withGates("VGPULiveMigration")],
  ["--vm-stats-collector", {}, withGates("VMStatsCollector")],
  ["--firmware-auto-selection", {}, withGates("FirmwareAutoSelection")],
  ["--keep-after-failure", annotated("kubevirt.io/keep-launcher-alive-after-failure", ""), {}],
  [
    "--keep-after-failure",
    annotated("kubevirt.io/keep-launcher-alive-after-failure-x", "true"),
    {},
  ],
  ["--simulate-crash", annotated("kubevirt.io/func-test-virt-launcher-fail-fast", ""), {}],
])("%s for %j in %j", (flag, parts, scene) => {
  expect(command(parts, scene)).toContain(flag);
});

function annotated(key: string, value: string): VmiParts {
  return { metadata: { annotations: { [key]: value } } };
}

test("omits flags that nobody asks for", () => {
  const root = command({ status: { runtimeUser: 0 } });
  expect(root).not.toContain("--run-as-nonroot");
  expect(root).not.toContain("--allow-emulation");
  expect(command(annotated("kubevirt.io/keep-launcher-alive-after-failure", "no"))).not.toContain(
    "--keep-after-failure",
  );
});

test("looks for firmware where the architecture has it, or where the cluster says", () => {
  const after = (line: readonly string[], flag: string): string | undefined =>
    line[line.indexOf(flag) + 1];
  expect(after(command({ spec: { architecture: "arm64" } }), "--ovmf-path")).toBe(
    "/usr/share/AAVMF",
  );
  const configuration = { ovmfPath: "/firmware" };
  expect(after(command({}, { configuration }), "--ovmf-path")).toBe("/firmware");
  const profile = kubevirtLauncherProfile({ image: "l:1", qemuTimeoutSeconds: 300 });
  expect(after(command({}, { profile }), "--qemu-timeout")).toBe("300s");
});

test("passes on log filters for libvirt", () => {
  const line = command(annotated("kubevirt.io/libvirt-log-filters", "3:qemu"));
  expect(line.slice(-2)).toEqual(["--libvirt-log-filters", "3:qemu"]);
});
