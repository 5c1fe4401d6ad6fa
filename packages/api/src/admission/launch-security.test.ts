import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const field = "Invalid spec.launchSecurity";
const efi = (rest: Change = { secureBoot: false }): Change => ({
  firmware: { bootloader: { efi: rest } },
});
const machine = (launchSecurity: Change, domain: Change = efi(), spec: Change = {}): Change => ({
  ...spec,
  domain: { launchSecurity, ...domain },
});
const tdx: ClusterOptions = { gates: ["WorkloadEncryptionTDX"] };
const netboot: Change = {
  devices: { interfaces: [{ name: "default", masquerade: {}, bootOrder: 1 }] },
};

test.each<[Change, ClusterOptions, string[]]>([
  [machine({ sev: {} }), {}, []],
  [machine({ snp: {} }), {}, []],
  [machine({ tdx: {} }), tdx, []],
  [machine({}), {}, ["Forbidden spec.launchSecurity"]],
  [machine({ sev: {}, snp: {} }), {}, ["Forbidden spec.launchSecurity"]],
  [machine({ sev: {} }), { disabled: ["WorkloadEncryptionSEV"] }, [field]],
  [machine({ tdx: {} }), {}, [field]],
  [machine({ tdx: {} }, { ...efi(), features: { smm: {} } }), tdx, [field]],
  [machine({ sev: {} }, {}), {}, [field]],
  [machine({ snp: {} }, { ...efi({}), features: { smm: {} } }), {}, [field]],
  [machine({ snp: {} }, efi({ secureBoot: false, persistent: true })), {}, [field]],
  [machine({ sev: {} }, efi({ secureBoot: false, persistent: true })), {}, []],
  [machine({ sev: { attestation: {} } }), {}, [field]],
  [machine({ sev: { attestation: {} } }, efi(), { startStrategy: "Paused" }), {}, []],
  [machine({ sev: {} }, { ...efi(), ...netboot }), {}, [field]],
  [
    machine({ sev: {} }, efi(), { architecture: "arm64" }),
    {},
    ["Invalid spec.domain.machine.type", "Invalid spec.architecture"],
  ],
])("%j %j: %j", (change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});

test("s390x has a way of its own, of which nothing is demanded", () => {
  expect(
    verdict({ architecture: "s390x", domain: { machine: undefined, launchSecurity: {} } }),
  ).toEqual([]);
});
