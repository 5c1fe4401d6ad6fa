import { clusterConfig } from "@virtkit/api/config";
import type { MigrationPolicySpec } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import {
  applyPolicy,
  clusterMigrationOptions,
  resolveMigrationOptions,
} from "./migration-options.ts";

const selectors = {};

test("the cluster's options get defaults, and amounts get their canonical form", () => {
  const config = clusterConfig({
    migrations: { bandwidthPerMigration: "1024Mi", disableTLS: true },
  });
  expect(clusterMigrationOptions(config)).toEqual({
    allowAutoConverge: false,
    allowPostCopy: false,
    allowWorkloadDisruption: false,
    bandwidthPerMigration: "1Gi",
    completionTimeoutPerGiB: 150,
    disableTLS: true,
    maxDowntimeMs: 900,
    nodeDrainTaintKey: "kubevirt.io/drain",
    parallelMigrationsPerCluster: 5,
    parallelOutboundMigrationsPerNode: 2,
    progressTimeout: 150,
    unsafeMigrationOverride: false,
    utilityVolumesTimeout: 150,
  });
});

test.each<[Omit<MigrationPolicySpec, "selectors">, object]>([
  [{ completionTimeoutPerGiB: 0 }, { completionTimeoutPerGiB: 0, maxDowntimeMs: 1 }],
  [{ bandwidthPerMigration: "2048Mi" }, { bandwidthPerMigration: "2Gi" }],
  [{ allowPostCopy: true }, { allowPostCopy: true, allowWorkloadDisruption: true }],
  [
    { allowPostCopy: true, allowWorkloadDisruption: false },
    { allowPostCopy: true, allowWorkloadDisruption: false },
  ],
  [{ allowWorkloadDisruption: true }, { allowPostCopy: false, allowWorkloadDisruption: true }],
])("a policy %j gives %j", (spec, expected) => {
  const base = { allowPostCopy: false, allowWorkloadDisruption: false, maxDowntimeMs: 1 };
  expect(applyPolicy(base, { selectors, ...spec })).toMatchObject(expected);
  expect(base).toEqual({ allowPostCopy: false, allowWorkloadDisruption: false, maxDowntimeMs: 1 });
});

test("experimental options merge field by field", () => {
  const base = { experimental: { stallDetector: { stallMargin: 1, ewmaAlpha: "0.5" } } };
  const experimental = { compression: "zstd", stallDetector: { stallMargin: 2 } };
  expect(applyPolicy(base, { selectors, experimental }).experimental).toEqual({
    compression: "zstd",
    stallDetector: { stallMargin: 2, ewmaAlpha: "0.5" },
  });
});

test("applies and names the matching policy", () => {
  const policy = { metadata: { name: "p" }, spec: { selectors, maxDowntimeMs: 7 } };
  const domain = { devices: {} };
  const vmi = { metadata: { labels: {} }, spec: { domain } };
  const resolved = resolveMigrationOptions(vmi, {}, [policy], clusterConfig());
  expect(resolved.policy).toBe(policy);
  expect(resolved.options.maxDowntimeMs).toBe(7);
  expect(resolveMigrationOptions(vmi, {}, [], clusterConfig()).policy).toBeUndefined();
});

test("rejects a bandwidth that is not a quantity, and names its path", () => {
  expect(() => applyPolicy({}, { selectors, bandwidthPerMigration: "fast" })).toThrow(
    expect.objectContaining({
      code: "MIGRATION_QUANTITY_INVALID",
      path: "spec.bandwidthPerMigration",
    }),
  );
});
