import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const field = "Invalid spec.launchSecurity";
const efi = (rest: Change = { secureBoot: false }): Change => ({
  firmware: { bootloader: { efi: rest } },
});
const vmiOf = (launchSecurity: Change, domain: Change = efi(), spec: Change = {}): Change => ({
  ...spec,
  domain: { launchSecurity, ...domain },
});
const tdx: ClusterOptions = { gates: ["WorkloadEncryptionTDX"] };
const netboot: Change = {
  devices: { interfaces: [{ name: "default", masquerade: {}, bootOrder: 1 }] },
};

test.each<[Change, ClusterOptions, string[]]>([
  [vmiOf({ sev: {} }), {}, []],
  [vmiOf({ snp: {} }), {}, []],
  [vmiOf({ tdx: {} }), tdx, []],
  [vmiOf({}), {}, ["Forbidden spec.launchSecurity"]],
  [vmiOf({ sev: {}, snp: {} }), {}, ["Forbidden spec.launchSecurity"]],
  [vmiOf({ sev: {} }), { disabled: ["WorkloadEncryptionSEV"] }, [field]],
  [vmiOf({ tdx: {} }), {}, [field]],
  [vmiOf({ tdx: {} }, { ...efi(), features: { smm: {} } }), tdx, [field]],
  [vmiOf({ sev: {} }, {}), {}, [field]],
  [vmiOf({ snp: {} }, { ...efi({}), features: { smm: {} } }), {}, [field]],
  [vmiOf({ snp: {} }, efi({ secureBoot: false, persistent: true })), {}, [field]],
  [vmiOf({ sev: {} }, efi({ secureBoot: false, persistent: true })), {}, []],
  [vmiOf({ sev: { attestation: {} } }), {}, [field]],
  [vmiOf({ sev: { attestation: {} } }, efi(), { startStrategy: "Paused" }), {}, []],
  [vmiOf({ sev: {} }, { ...efi(), ...netboot }), {}, [field]],
  [
    vmiOf({ sev: {} }, efi(), { architecture: "arm64" }),
    {},
    ["Invalid spec.domain.machine.type", "Invalid spec.architecture"],
  ],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});

test("s390x has its own technology without requirements", () => {
  expect(
    verdict({ architecture: "s390x", domain: { machine: undefined, launchSecurity: {} } }),
  ).toEqual([]);
});
