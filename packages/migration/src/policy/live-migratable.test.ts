import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { liveMigratable } from "./live-migratable.ts";

const facts = { config: clusterConfig(), hostCpuModel: "Skylake" };

const vmiWith = (spec: object, status: object = {}): VirtualMachineInstance =>
  ({
    metadata: { name: "vm", namespace: "ns" },
    spec: { domain: { devices: {} }, ...spec },
    status,
  }) as VirtualMachineInstance;

const reasons = (vmi: VirtualMachineInstance): readonly (string | undefined)[] =>
  liveMigratable(vmi, facts).conditions.map(({ reason }) => reason);

describe("liveMigratable", () => {
  test("a plain VMI can move without copying anything", () => {
    expect(liveMigratable(vmiWith({}), facts)).toEqual({
      conditions: [
        { type: "LiveMigratable", status: "True" },
        { type: "StorageLiveMigratable", status: "True" },
      ],
      migrationMethod: "LiveMigration",
      events: [],
    });
  });

  test("names the first obstacle in one condition and all in the other", () => {
    const domain = {
      devices: { hostDevices: [{ name: "h", deviceName: "x" }] },
      launchSecurity: { sev: {} },
      features: { hypervPassthrough: { enabled: true } },
    };
    const [live, storage] = liveMigratable(vmiWith({ domain }), facts).conditions;
    expect(live).toMatchObject({ status: "False", reason: "HostDeviceNotLiveMigratable" });
    expect(storage).toMatchObject({ status: "False", reason: "NotMigratable" });
    expect(storage?.message?.match(/\w+NotLiveMigratable/g)).toEqual([
      "HostDeviceNotLiveMigratable",
      "SEVNotLiveMigratable",
      "HypervPassthroughNotLiveMigratable",
    ]);
  });

  test("a persistent reservation blocks the volumes, and Secure Execution blocks the VMI", () => {
    const disks = [{ name: "d", lun: { reservation: true } }];
    expect(reasons(vmiWith({ domain: { devices: { disks } } }))).toEqual([
      undefined,
      "NotMigratable",
    ]);
    const secured = { architecture: "s390x", domain: { devices: {}, launchSecurity: {} } };
    expect(reasons(vmiWith(secured))).toEqual(["SecureExecutionNotLiveMigratable", undefined]);
  });

  test("a guest that needs the TSC frequency can move once its nodes report it", () => {
    const domain = { devices: {}, features: { hyperv: { reenlightenment: { enabled: true } } } };
    expect(reasons(vmiWith({ domain }))).toEqual([
      "NoTSCFrequencyNotLiveMigratable",
      "NotMigratable",
    ]);
    expect(reasons(vmiWith({ domain }, { topologyHints: { tscFrequency: 1 } }))).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("warns if a drain would have to move a VMI that cannot move", () => {
    const volumes = [{ name: "a", persistentVolumeClaim: { claimName: "a" } }];
    const stuck = vmiWith({ volumes, evictionStrategy: "LiveMigrate" });
    expect(liveMigratable(stuck, facts).events).toMatchObject([
      { type: "Warning", reason: "Migrated" },
    ]);
    const calm = vmiWith({ volumes, evictionStrategy: "LiveMigrateIfPossible" });
    expect(liveMigratable(calm, facts).events).toEqual([]);
  });

  test("leaves an unchanged condition alone", () => {
    const first = liveMigratable(vmiWith({}), facts).conditions;
    const conditions = [...first, { type: "Ready", status: "True" }];
    expect(liveMigratable(vmiWith({}, { conditions }), facts).conditions).toEqual(conditions);
  });

  test("names the field of an object that is not a VMI", () => {
    expect(() => liveMigratable({ spec: 7 } as unknown as VirtualMachineInstance, facts)).toThrow(
      expect.objectContaining({ code: "MIGRATION_INPUT_INVALID", path: "spec" }),
    );
  });
});
