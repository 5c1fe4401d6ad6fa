import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import { defaultVirtualMachineInstanceMigration } from "./default-virtual-machine-instance-migration.ts";

test("a migration is labelled with its VMI and kept until it has ended", () => {
  const migration = {
    metadata: { name: "m", labels: { a: "b" }, finalizers: ["c/d"] },
    spec: { vmiName: "vm" },
  };
  expect(defaultVirtualMachineInstanceMigration(migration, clusterConfig())).toEqual({
    metadata: {
      name: "m",
      labels: { a: "b", "kubevirt.io/vmi-name": "vm" },
      finalizers: ["c/d", "kubevirt.io/migrationJobFinalize"],
    },
    spec: { vmiName: "vm" },
  });
  expect(migration.metadata.finalizers).toEqual(["c/d"]);
});
