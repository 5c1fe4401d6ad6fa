import { kubevirtDomain } from "../names/well-known.ts";
import { type KubeVirt, KubeVirtSchema } from "./cluster/kubevirt.ts";
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "./instance/virtual-machine-instance.ts";
import {
  type VirtualMachineClusterInstancetype,
  VirtualMachineClusterInstancetypeSchema,
  type VirtualMachineInstancetype,
  VirtualMachineInstancetypeSchema,
} from "./instancetype/virtual-machine-instancetype.ts";
import {
  type VirtualMachineClusterPreference,
  VirtualMachineClusterPreferenceSchema,
  type VirtualMachinePreference,
  VirtualMachinePreferenceSchema,
} from "./instancetype/virtual-machine-preference.ts";
import { type MigrationPolicy, MigrationPolicySchema } from "./migration/migration-policy.ts";
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrationSchema,
} from "./migration/virtual-machine-instance-migration.ts";
import { type VirtualMachinePool, VirtualMachinePoolSchema } from "./pool/virtual-machine-pool.ts";
import {
  type VirtualMachineInstanceReplicaSet,
  VirtualMachineInstanceReplicaSetSchema,
} from "./replicaset/virtual-machine-instance-replica-set.ts";
import type { Schema, SchemaNode } from "./schema.ts";
import { type VirtualMachine, VirtualMachineSchema } from "./virtual-machine/virtual-machine.ts";

/** The type of each kind of object. */
export interface ObjectTypes {
  VirtualMachine: VirtualMachine;
  VirtualMachineInstance: VirtualMachineInstance;
  VirtualMachineInstanceMigration: VirtualMachineInstanceMigration;
  VirtualMachineInstanceReplicaSet: VirtualMachineInstanceReplicaSet;
  VirtualMachinePool: VirtualMachinePool;
  KubeVirt: KubeVirt;
  MigrationPolicy: MigrationPolicy;
  VirtualMachineInstancetype: VirtualMachineInstancetype;
  VirtualMachineClusterInstancetype: VirtualMachineClusterInstancetype;
  VirtualMachinePreference: VirtualMachinePreference;
  VirtualMachineClusterPreference: VirtualMachineClusterPreference;
}

/** The name of a kind of object. */
export type ObjectKindName = keyof ObjectTypes;

/** An object of one of the kinds. */
export type KnownObject = ObjectTypes[ObjectKindName];

/** The API names of a kind of object. */
export interface ObjectKind<T = KnownObject> {
  /** The prefix of the API group: `instancetype`, `migrations`, `pool`, or nothing. */
  readonly subgroup: "" | "instancetype" | "migrations" | "pool";
  /** The stored version. */
  readonly version: string;
  /** Older versions of the same schema that are still served. */
  readonly deprecatedVersions: readonly string[];
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly schema: Schema<T>;
}

const kubevirt = { subgroup: "", version: "v1", deprecatedVersions: ["v1alpha3"] } as const;
const migrations = {
  subgroup: "migrations",
  version: "v1alpha1",
  deprecatedVersions: [],
} as const;
const instancetype = {
  subgroup: "instancetype",
  version: "v1beta1",
  deprecatedVersions: [],
} as const;

/** Every kind of object that this package knows. */
export const objectKinds: { readonly [K in ObjectKindName]: ObjectKind<ObjectTypes[K]> } = {
  VirtualMachine: {
    ...kubevirt,
    plural: "virtualmachines",
    scope: "Namespaced",
    schema: VirtualMachineSchema,
  },
  VirtualMachineInstance: {
    ...kubevirt,
    plural: "virtualmachineinstances",
    scope: "Namespaced",
    schema: VirtualMachineInstanceSchema,
  },
  VirtualMachineInstanceMigration: {
    ...kubevirt,
    plural: "virtualmachineinstancemigrations",
    scope: "Namespaced",
    schema: VirtualMachineInstanceMigrationSchema,
  },
  VirtualMachineInstanceReplicaSet: {
    ...kubevirt,
    plural: "virtualmachineinstancereplicasets",
    scope: "Namespaced",
    schema: VirtualMachineInstanceReplicaSetSchema,
  },
  VirtualMachinePool: {
    subgroup: "pool",
    version: "v1beta1",
    deprecatedVersions: ["v1alpha1"],
    plural: "virtualmachinepools",
    scope: "Namespaced",
    schema: VirtualMachinePoolSchema,
  },
  KubeVirt: { ...kubevirt, plural: "kubevirts", scope: "Namespaced", schema: KubeVirtSchema },
  MigrationPolicy: {
    ...migrations,
    plural: "migrationpolicies",
    scope: "Cluster",
    schema: MigrationPolicySchema,
  },
  VirtualMachineInstancetype: {
    ...instancetype,
    plural: "virtualmachineinstancetypes",
    scope: "Namespaced",
    schema: VirtualMachineInstancetypeSchema,
  },
  VirtualMachineClusterInstancetype: {
    ...instancetype,
    plural: "virtualmachineclusterinstancetypes",
    scope: "Cluster",
    schema: VirtualMachineClusterInstancetypeSchema,
  },
  VirtualMachinePreference: {
    ...instancetype,
    plural: "virtualmachinepreferences",
    scope: "Namespaced",
    schema: VirtualMachinePreferenceSchema,
  },
  VirtualMachineClusterPreference: {
    ...instancetype,
    plural: "virtualmachineclusterpreferences",
    scope: "Cluster",
    schema: VirtualMachineClusterPreferenceSchema,
  },
};

/** The API group of a kind below the given root group: `instancetype.kubevirt.io`. */
export function groupOf({ subgroup }: Pick<ObjectKind, "subgroup">, root: string): string {
  return subgroup === "" ? root : `${subgroup}.${root}`;
}

/** Options of {@link schemaFor}. */
export interface SchemaForOptions {
  /** The root of the API groups. Default `kubevirt.io`. */
  readonly group?: string;
}

/**
 * The schema of an object by its `apiVersion` and `kind`; `undefined` if they name no known kind. Deprecated
 * versions count. Accepts any value.
 */
export function schemaFor(
  object: unknown,
  { group = kubevirtDomain }: SchemaForOptions = {},
): Schema<KnownObject> | undefined {
  const { apiVersion, kind } = Object(object) as { apiVersion?: unknown; kind?: unknown };
  if (typeof kind !== "string" || !Object.hasOwn(objectKinds, kind)) return undefined;
  const found = objectKinds[kind as ObjectKindName];
  const versions = [found.version, ...found.deprecatedVersions];
  const named = versions.some((version) => `${groupOf(found, group)}/${version}` === apiVersion);
  // `kind` decides which member of the union it is; the schema is only read.
  return named ? (found.schema as SchemaNode) : undefined;
}
