import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findFirmware, firmwareMounts } from "./host-firmware.ts";
import { firmwareChecks } from "./host-report.ts";

async function host(...files: string[]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "virtkit-firmware-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const file of files) {
    await mkdir(join(root, dirname(file)), { recursive: true });
    await writeFile(join(root, file), "");
  }
  return root;
}

const distributions = {
  "Debian 12": ["/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"],
  "older Debian": ["/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"],
  Fedora: ["/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"],
  Arch: ["/usr/share/edk2/x64/OVMF_CODE.4m.fd", "/usr/share/edk2/x64/OVMF_VARS.4m.fd"],
  "older Arch": ["/usr/share/edk2-ovmf/x64/OVMF_CODE.fd", "/usr/share/edk2-ovmf/x64/OVMF_VARS.fd"],
} as const;

test.each(Object.entries(distributions))("finds the firmware of %s", async (_, [code, vars]) => {
  const root = await host(code, vars);
  const found = { code: join(root, code), vars: join(root, vars) };
  expect(findFirmware("amd64", { secureBoot: false, root })).toEqual(found);
  expect(findFirmware("amd64", { secureBoot: true, root })).toBeUndefined();
});

test.each([
  ["Debian 12", "OVMF/OVMF_CODE_4M.secboot.fd", "OVMF/OVMF_VARS_4M.ms.fd"],
  ["older Debian", "OVMF/OVMF_CODE.secboot.fd", "OVMF/OVMF_VARS.ms.fd"],
  ["Fedora", "edk2/ovmf/OVMF_CODE.secboot.fd", "edk2/ovmf/OVMF_VARS.secboot.fd"],
])("finds secure boot firmware of %s only with its keys", async (_, code, vars) => {
  const root = await host(`/usr/share/${code}`, `/usr/share/${vars}`);
  expect(findFirmware("amd64", { secureBoot: true, root })?.vars).toBe(
    join(root, "usr/share", vars),
  );
  await rm(join(root, "usr/share", vars));
  expect(findFirmware("amd64", { secureBoot: true, root })).toBeUndefined();
});

test("finds the firmware of arm64, none of which boots securely", async () => {
  const root = await host("/usr/share/AAVMF/AAVMF_CODE.fd", "/usr/share/AAVMF/AAVMF_VARS.fd");
  expect(findFirmware("arm64", { secureBoot: false, root })?.code).toContain("AAVMF_CODE.fd");
  expect(findFirmware("arm64", { secureBoot: true, root })).toBeUndefined();
  expect(findFirmware("amd64", { secureBoot: false, root })).toBeUndefined();
});

test("a sandbox has the firmware under the names of KubeVirt's image, read-only", () => {
  const mounts = firmwareMounts({ code: "/c.4m.fd", vars: "/v.ms.fd" }, "amd64", true);
  expect(mounts.map(({ source, target, readOnly }) => [source, target, readOnly])).toEqual([
    ["/c.4m.fd", "/run/virtkit-firmware/OVMF_CODE.secboot.fd", true],
    ["/v.ms.fd", "/run/virtkit-firmware/OVMF_VARS.secboot.fd", true],
  ]);
});

test("doctor reports both kinds, with each distribution's package", async () => {
  const checks = firmwareChecks(await host());
  expect(checks.map(({ state }) => state)).toEqual(["optional", "optional"]);
  expect(checks[0]?.fix).toMatch(/Debian: .*Fedora: .*Arch: /);
});
