import type { Checker } from "./checker.ts";

/**
 * Every checker, in the order in which they run. The first is the schema. The others may trust the types: they
 * see an object only after earlier faults have been fixed.
 */
export const checkers: readonly [Checker, ...Checker[]] = [
  { name: "schema", load: () => import("./schema-checker.ts") },
  { name: "metadata", load: () => import("./metadata-checker.ts") },
  { name: "configuration", kinds: ["KubeVirt"], load: () => import("./configuration-checker.ts") },
  {
    name: "admission",
    kinds: [
      "VirtualMachine",
      "VirtualMachineInstance",
      "VirtualMachineInstanceMigration",
      "VirtualMachineInstanceReplicaSet",
      "VirtualMachinePool",
      "VirtualMachineInstancetype",
      "VirtualMachineClusterInstancetype",
      "VirtualMachinePreference",
      "VirtualMachineClusterPreference",
      "MigrationPolicy",
    ],
    load: () => import("./admission-checker.ts"),
  },
];
