import type { Checker } from "./checker.ts";

/**
 * Every checker, in the order in which they run. The first is the schema; each of the others sees
 * only objects in which those before it found nothing, and so may trust the types.
 */
export const checkers: readonly [Checker, ...Checker[]] = [
  { name: "schema", load: () => import("./schema-checker.ts") },
  { name: "configuration", kinds: ["KubeVirt"], load: () => import("./configuration-checker.ts") },
  {
    name: "admission",
    kinds: [
      "VirtualMachine",
      "VirtualMachineInstance",
      "VirtualMachineInstanceMigration",
      "MigrationPolicy",
    ],
    load: () => import("./admission-checker.ts"),
  },
];
