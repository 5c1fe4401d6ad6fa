import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("uses the VMI's machine type, otherwise that of the architecture", () => {
  expect(domainWith({ domain: { machine: { type: "pc-q35-9.0" } } }).os.type.machine).toBe(
    "pc-q35-9.0",
  );
  expect(domainWith().os.type.machine).toBe("q35");
});

test("s390x has no SMBIOS", () => {
  expect(domainWith().os.smbios).toEqual({ mode: "sysinfo" });
  expect(domainWith({ architecture: "s390x" }).os.smbios).toBeUndefined();
});

test("a guest that starts paused shows its boot menu for ten seconds", () => {
  expect(domainWith().os.bootmenu).toBeUndefined();
  const { os } = domainWith({ spec: { startStrategy: "Paused" } });
  expect(os.bootmenu).toEqual({ enable: "yes", timeout: 10000 });
});
