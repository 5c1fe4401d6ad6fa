import { describe, expect, test } from "vitest";
import { type Changes, domainWith } from "../testing/conversion.ts";

const efi = { firmware: { bootloader: { efi: {} } } };
const chosen = {
  EFICode: "/code",
  EFIVars: "/vars",
  SecureLoader: true,
  UsesFirmwareAutoSelection: false,
};

function osWith(changes: Changes): object {
  return domainWith({ domain: efi, context: { efiConfiguration: chosen }, ...changes }).os;
}

describe("firmware", () => {
  test("is a flash with variables in a file named after the guest", () => {
    expect(osWith({})).toMatchObject({
      loader: { readonly: "yes", secure: "yes", type: "pflash", path: "/code" },
      nvram: { template: "/vars", path: "/var/lib/libvirt/qemu/nvram/vm_VARS.fd" },
    });
  });

  test("keeps its variables where an unprivileged QEMU can write", () => {
    const path = "/var/run/kubevirt-private/libvirt/qemu/nvram/vm_VARS.fd";
    expect(osWith({ status: { runtimeUser: 107 } })).toMatchObject({ nvram: { path } });
    expect(osWith({ annotations: { "kubevirt.io/nonroot": "" } })).toMatchObject({
      nvram: { path },
    });
  });

  test.each([{ snp: {} }, { tdx: {} }])("holds no variables with %j", (launchSecurity) => {
    const os = osWith({ domain: { ...efi, launchSecurity } });
    expect(os).toMatchObject({ loader: { type: "rom" } });
    expect(os).toMatchObject({ nvram: undefined });
  });

  test("is chosen by libvirt if the cluster says so; on arm64 with its own variables", () => {
    const efiConfiguration = {
      ...chosen,
      EFICode: "",
      EFIVars: "",
      UsesFirmwareAutoSelection: true,
    };
    const os = osWith({ context: { efiConfiguration } });
    expect(os).toMatchObject({ firmware: "efi", nvram: { format: "raw" } });
    expect(os).toHaveProperty("firmwareInfo.features", [
      { enabled: "yes", name: "secure-boot" },
      { enabled: "yes", name: "enrolled-keys" },
    ]);
    expect(osWith({ architecture: "arm64", context: { efiConfiguration } })).toMatchObject({
      nvram: undefined,
    });
  });

  test("is a BIOS otherwise, which can use the serial port", () => {
    expect(domainWith({ context: { efiConfiguration: chosen } }).os.loader).toBeUndefined();
    const bios = (useSerial: boolean): object => ({
      firmware: { bootloader: { bios: { useSerial } } },
    });
    expect(domainWith({ domain: bios(true) }).os.bios).toEqual({ useserial: "yes" });
    expect(domainWith({ domain: bios(false) }).os.bios).toBeUndefined();
  });
});
