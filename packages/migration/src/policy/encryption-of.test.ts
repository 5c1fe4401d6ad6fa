import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { encryptionOf } from "./encryption-of.ts";

test.each([
  ["QEMU encrypts by default", undefined, {}, "qemu"],
  ["nobody does if the cluster disables it", true, {}, "none"],
  ["nobody does if the migration's options disable it", undefined, { own: true }, "none"],
  [
    "the migration's options take precedence over a cluster that was changed",
    true,
    { own: false },
    "qemu",
  ],
  ["the proxies do if disks are copied", undefined, { method: "BlockMigration" }, "proxies"],
  [
    "nobody encrypts copied disks if the cluster disables it",
    true,
    { method: "BlockMigration" },
    "none",
  ],
] as const)("%s", (_what, cluster, { own, method = "LiveMigration" }: Given, expected) => {
  const config = clusterConfig({
    migrations: cluster === undefined ? {} : { disableTLS: cluster },
  });
  const migrationConfiguration = own === undefined ? {} : { disableTLS: own };
  const status = { migrationMethod: method, migrationState: { migrationConfiguration } };
  expect(encryptionOf({ status } as VirtualMachineInstance, config)).toBe(expected);
});

interface Given {
  readonly own?: boolean;
  readonly method?: string;
}
