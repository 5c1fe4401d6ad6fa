import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import type { MigrationOptions } from "./migration-options.ts";
import { planMigration } from "./plan-migration.ts";
import type { MigrationInput } from "./single-call.ts";

const uid = "6a1a24a1-4061-4607-8bf4-a3963d0c5895";

const vmi: VirtualMachineInstance = {
  metadata: { name: "vm", namespace: "ns", uid },
  spec: {
    domain: { devices: {}, memory: { guest: "1Gi" } },
    volumes: [{ name: "root", containerDisk: { image: "example.com/disk:1" } }],
  },
  status: { migrationMethod: "BlockMigration", migrationState: { migrationUid: "m1" } },
};

const options: MigrationOptions = {
  bandwidth: "64Mi",
  progressTimeout: 150,
  completionTimeoutPerGiB: 150,
  maxDowntimeMs: 300,
  unsafe: false,
  allowAutoConverge: true,
  allowPostCopy: true,
  allowWorkloadDisruption: false,
  parallelThreads: 8,
};

const domainXml = `<domain type="kvm"><name>ns_vm</name><uuid>${uid}</uuid><devices>
  <disk type="file" device="disk"><source file="/x"/><target dev="vda" bus="virtio"/><alias name="ua-root"/></disk>
</devices></domain>`;

const plan = (changes: Partial<MigrationInput> = {}): ReturnType<typeof planMigration> =>
  planMigration({ vmi, options, domainXml, paused: false, ...changes });

describe("the five phases", () => {
  test("are driven by ourselves: never peer to peer, and locked against changes", () => {
    expect(plan().flags).toEqual([
      "live",
      "persistDestination",
      "nonSharedIncremental",
      "autoConverge",
      "postcopy",
      "parallel",
      "changeProtection",
    ]);
  });

  test("copy disks if the VMI's status says so, by its method or by its volumes", () => {
    const { migrationMethod: _, ...status } = vmi.status ?? {};
    const migratedVolumes = [{ volumeName: "other" }];
    const flagsOf = (changes: object): readonly string[] =>
      plan({ vmi: { ...vmi, status: { ...status, ...changes } } as VirtualMachineInstance }).flags;
    expect(flagsOf({})).not.toContain("nonSharedIncremental");
    expect(flagsOf({ migratedVolumes })).toContain("nonSharedIncremental");
  });

  test("end with a paused target, unless post-copy is active", () => {
    const { flags, finishFlags, postcopyFinishFlags, finishParams } = plan();
    expect(finishFlags).toEqual([...flags, "paused"]);
    expect(postcopyFinishFlags).toEqual(flags);
    expect(finishParams).toEqual({ destination_name: "ns_vm" });
  });

  test("do not resume a guest that its user paused, and inform libvirt only in finish", () => {
    const { flags, resume } = plan({ paused: true });
    expect(flags).not.toContain("paused");
    expect(resume).toBe(false);
    expect(plan().resume).toBe(true);
  });

  test("use the sockets of the proxy, the limit, the disks and the XML", () => {
    const { params, destinationXml, copiedDisks } = plan();
    expect(params).toEqual({
      migrate_uri: `unix://${names().sockets.migrationProxy(uid, 49152)}`,
      disks_uri: `unix://${names().sockets.migrationProxy(uid, 49153)}`,
      destination_name: "ns_vm",
      destination_xml: destinationXml,
      persistent_xml: destinationXml,
      bandwidth: 64,
      "parallel.connections": 8,
      migrate_disks: ["vda"],
      migrate_disks_detect_zeroes: ["vda"],
    });
    expect(copiedDisks).toEqual(["vda"]);
  });

  test("leave out what an older libvirt does not know", () => {
    expect(plan({ libvirtVersion: 9_000_000 }).params).not.toHaveProperty(
      "migrate_disks_detect_zeroes",
    );
    expect(plan({ libvirtVersion: 10_009_000 }).params).toHaveProperty(
      "migrate_disks_detect_zeroes",
    );
  });

  test("use one stream, without compression, if QEMU may crash when several fail", () => {
    const compressed = { ...options, compression: "zstd" } as const;
    const planned = (qemuVersion?: number): ReturnType<typeof planMigration> =>
      plan({ options: compressed, ...(qemuVersion && { qemuVersion }) });
    for (const old of [7_002_000, 8_002_010]) {
      const { flags, params } = planned(old);
      for (const flag of ["parallel", "compressed"]) expect(flags).not.toContain(flag);
      expect(params).not.toHaveProperty(["parallel.connections"]);
      expect(params).not.toHaveProperty("compression");
    }
    for (const newer of [9_000_000, undefined]) {
      const { flags, params } = planned(newer);
      expect(flags).toEqual(expect.arrayContaining(["parallel", "compressed"]));
      expect(params).toMatchObject({ "parallel.connections": 8, compression: "zstd" });
    }
  });

  test("are encrypted for the name in the target's certificate", () => {
    const { flags, params } = plan({ tls: { destination: "m1" } });
    expect(flags).toContain("tls");
    expect(params).toHaveProperty(["tls.destination"], "m1");
  });

  test("accept custom sockets", () => {
    const { params } = plan({ uris: { memory: "unix:///a", disks: "unix:///b" } });
    expect(params).toMatchObject({ migrate_uri: "unix:///a", disks_uri: "unix:///b" });
  });
});

test("the monitor's policy comes with the plan", () => {
  expect(plan({ ephemeralDisksBytes: 1_000_000_000 }).policy).toEqual({
    completionSeconds: 450,
    progressSeconds: 150,
    maxDowntimeMs: 300,
    allowPostCopy: true,
    allowWorkloadDisruption: false,
    hasVfio: false,
  });
});

test("with stall detection, QEMU begins with at most its own downtime", () => {
  const stallDetection = {
    margin: 0.04,
    progressTimeout: 40,
    switchoverTimeout: 60,
    ewmaAlpha: 0.4,
    precopyPossibleFactor: 1.5,
    patienceDecay: 0.5,
    searchLocalMinima: true,
    completionTimeoutFactor: 2,
  };
  const downtime = (maxDowntimeMs: number): number | undefined =>
    plan({ options: { ...options, maxDowntimeMs, stallDetection } }).initialDowntimeMs;
  expect([downtime(100), downtime(900)]).toEqual([100, 300]);
  expect(plan()).not.toHaveProperty("initialDowntimeMs");
});

describe("a migration that must not begin", () => {
  test("is rejected during a backup, and before the controller has handed the VMI over", () => {
    const { migrationState: _, ...status } = vmi.status ?? {};
    const path = "status.migrationState";
    expect(() => plan({ vmi: { ...vmi, status } })).toThrow(
      expect.objectContaining({ code: "MIGRATION_NOT_NOW", path }),
    );
    const changedBlockTracking = { backupStatus: { backupName: "b1" } };
    const backup = { ...vmi.status, changedBlockTracking };
    expect(() => plan({ vmi: { ...vmi, status: backup } as VirtualMachineInstance })).toThrow(
      /backup b1 is running/,
    );
  });

  test.each([
    ["invalid XML", { domainXml: "<domain" }, "MIGRATION_XML_INVALID"],
    [
      "a limit that is not an amount",
      { options: { ...options, bandwidth: "x" } },
      "MIGRATION_QUANTITY_INVALID",
    ],
    [
      "a limit below zero",
      { options: { ...options, bandwidth: "-1" } },
      "MIGRATION_QUANTITY_INVALID",
    ],
    [
      "a VMI without a spec",
      { vmi: { status: vmi.status } as VirtualMachineInstance },
      "MIGRATION_INPUT_INVALID",
    ],
  ])("%s", (_what, changes, code) => {
    expect(() => plan(changes)).toThrow(expect.objectContaining({ code }));
  });
});
