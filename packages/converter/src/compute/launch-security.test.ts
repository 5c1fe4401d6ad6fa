import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("launch security", () => {
  test.each([
    [{ sev: {} }, { type: "sev", policy: "0x1" }],
    [{ sev: { policy: { encryptedState: true } } }, { type: "sev", policy: "0x5" }],
    [{ sev: { dhCert: "d", session: "s" } }, { type: "sev", dhCert: "d", session: "s" }],
    [{ snp: {} }, { type: "sev-snp", policy: "0x30000" }],
    [{ sev: {}, snp: {} }, { type: "sev" }],
    [{ tdx: {} }, { type: "tdx", quoteGenerationService: {} }],
  ])("of %j is %j", (launchSecurity, expected) => {
    expect(domainWith({ domain: { launchSecurity } }).launchSecurity).toMatchObject(expected);
  });

  test("of TDX has the quote service that the annotation names", () => {
    const annotations = { "kubevirt.io/qgs-socket-path": "/run/qgs.sock" };
    const domain = domainWith({ domain: { launchSecurity: { tdx: {} } }, annotations });
    expect(domain.launchSecurity?.quoteGenerationService).toEqual({ path: "/run/qgs.sock" });
  });

  test.each(["arm64", "s390x"])("is not libvirt's task on %s", (architecture) => {
    const domain = domainWith({ architecture, domain: { launchSecurity: { sev: {} } } });
    expect(domain.launchSecurity).toBeUndefined();
  });

  test("makes virtio devices use the guest's IOMMU", () => {
    const domain = domainWith({ devices: { rng: {} }, context: { useLaunchSecuritySEV: true } });
    expect(domain.devices.rng?.driver).toEqual({ iommu: "on" });
    expect(domain.devices.memballoon?.driver).toEqual({ iommu: "on" });
    expect(domain.devices.controllers.map(({ driver }) => driver?.iommu)).toEqual([
      undefined,
      "on",
      "on",
    ]);
  });
});
