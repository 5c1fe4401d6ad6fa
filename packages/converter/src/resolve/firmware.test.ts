import type { EFI, LaunchSecurity } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { smallVmi } from "../testing/conversion.ts";
import { chooseFirmware, type FirmwareFiles } from "./firmware.ts";

const files: FirmwareFiles = {
  directory: "/fw",
  names: undefined,
  architecture: "amd64",
  autoSelection: false,
};

function choose(
  efi: EFI,
  launchSecurity?: LaunchSecurity,
  more: Partial<FirmwareFiles> = {},
): unknown {
  const domain = {
    firmware: { bootloader: { efi } },
    ...(launchSecurity ? { launchSecurity } : {}),
  };
  const found = chooseFirmware(smallVmi({ domain }), { ...files, ...more });
  return found && [found.EFICode, found.EFIVars, found.SecureLoader];
}

describe("chooseFirmware", () => {
  test("names only files if there is no directory", () => {
    expect(choose({}, undefined, { directory: "" })).toEqual([
      "OVMF_CODE.secboot.fd",
      "OVMF_VARS.secboot.fd",
      true,
    ]);
  });

  test("chooses none for a BIOS", () => {
    expect(chooseFirmware(smallVmi(), files)).toBeNull();
  });

  test.each([
    [{}, undefined, ["/fw/OVMF_CODE.secboot.fd", "/fw/OVMF_VARS.secboot.fd", true]],
    [{ secureBoot: false }, undefined, ["/fw/OVMF_CODE.secboot.fd", "/fw/OVMF_VARS.fd", false]],
    [{ secureBoot: false }, { sev: {} }, ["/fw/OVMF_CODE.cc.fd", "/fw/OVMF_VARS.fd", false]],
    [{ secureBoot: false }, { snp: {} }, ["/fw/OVMF.amdsev.fd", "", false]],
    [{ secureBoot: false }, { tdx: {} }, ["/fw/OVMF.inteltdx.fd", "", false]],
    [{}, { tdx: {} }, ["/fw/OVMF.inteltdx.secboot.fd", "", false]],
  ])("for %j with %j chooses %j", (efi, security, expected) => {
    expect(choose(efi, security)).toEqual(expected);
  });

  test("falls back to firmware without secure boot unless that is required", () => {
    const names = ["OVMF_CODE.fd", "OVMF_VARS.fd"];
    expect(choose({ secureBoot: false }, undefined, { names })).toEqual([
      "/fw/OVMF_CODE.fd",
      "/fw/OVMF_VARS.fd",
      false,
    ]);
    expect(() => choose({}, undefined, { names })).toThrow(
      /no firmware for plain guests with secure boot/,
    );
  });

  test("chooses that of arm64, which has no secure boot", () => {
    const architecture = "arm64";
    expect(choose({ secureBoot: false }, undefined, { architecture })).toEqual([
      "/fw/AAVMF_CODE.fd",
      "/fw/AAVMF_VARS.fd",
      false,
    ]);
    expect(() => choose({}, undefined, { architecture })).toThrow(
      expect.objectContaining({ path: "efiRoms" }),
    );
  });

  test("leaves secure boot to libvirt if the cluster says so", () => {
    expect(choose({}, undefined, { autoSelection: true })).toEqual(["", "", true]);
    expect(choose({ secureBoot: false }, undefined, { autoSelection: true })).toContain(
      "/fw/OVMF_VARS.fd",
    );
  });

  test.each([{ sev: {} }, { snp: {} }])("has none for secure boot with %j", (security) => {
    expect(() => choose({}, security)).toThrow(expect.objectContaining({ path: "efiRoms" }));
  });
});
