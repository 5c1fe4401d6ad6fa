import { kubevirtDomain } from "../names/well-known.ts";
import { groupOf, type ObjectKindName, objectKinds } from "../schema/index.ts";
import { type StructuralSchema, structuralSchema } from "./structural-schema.ts";

/** A CustomResourceDefinition of `apiextensions.k8s.io/v1`. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly CrdVersion[];
  };
}

/** One version of a {@link CustomResourceDefinition}. */
export interface CrdVersion {
  readonly name: string;
  readonly served: true;
  readonly storage: boolean;
  readonly deprecated?: true;
  readonly deprecationWarning?: string;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources?: Subresources;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
}

/** Subresources of an object. */
export interface Subresources {
  readonly status?: Readonly<Record<string, never>>;
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath: string;
  };
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "date" | "integer" | "string";
  readonly jsonPath: string;
  readonly description?: string;
  /** Greater than 0: only with `-o wide`. */
  readonly priority?: number;
}

/** Options of {@link crds}. */
export interface CrdOptions {
  /** The root of the API groups. Default `kubevirt.io`. */
  readonly group?: string;
  /** Labels of every definition. Default: the group, or `operator.` and the group for `KubeVirt`. */
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * The definitions of every kind in this package, to be applied to a cluster. The same options give the same
 * definitions, in the same order. They have no descriptions, which keeps the largest below 100 KB.
 */
export function crds({
  group = kubevirtDomain,
  labels,
}: CrdOptions = {}): CustomResourceDefinition[] {
  const names = Object.keys(objectKinds) as ObjectKindName[];
  return names.map((name) => definition(name, group, labels ?? labelsOf(name, group)));
}

/** An installation's own definition outlives the installation, so it has another label. */
function labelsOf(kind: ObjectKindName, group: string): Readonly<Record<string, string>> {
  return { [kind === "KubeVirt" ? `operator.${group}` : group]: "" };
}

function definition(
  kind: ObjectKindName,
  root: string,
  labels: Readonly<Record<string, string>>,
): CustomResourceDefinition {
  const { plural, scope, ...found } = objectKinds[kind];
  const { shortNames, listed, subresources, columns } = presentations[kind];
  const group = groupOf(found, root);
  const version = {
    served: true,
    schema: { openAPIV3Schema: structuralSchema(found.schema) },
    ...(subresources && { subresources }),
    ...(columns && { additionalPrinterColumns: columns }),
  } as const;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, labels },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames && { shortNames }),
        ...(listed && { categories: ["all"] }),
      },
      versions: [
        { name: found.version, storage: true, ...version },
        ...found.deprecatedVersions.map((name) => ({
          name,
          storage: false,
          deprecated: true as const,
          deprecationWarning: `${group}/${name} is deprecated; use ${group}/${found.version}`,
          ...version,
        })),
      ],
    },
  };
}

/** How people and clients see a kind. */
interface Presentation {
  readonly shortNames?: readonly string[];
  /** Whether `kubectl get all` shows it. */
  readonly listed?: true;
  readonly subresources?: Subresources;
  readonly columns?: readonly PrinterColumn[];
}

const age: PrinterColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};
const phase: PrinterColumn = { name: "Phase", type: "string", jsonPath: ".status.phase" };

function condition(name: string, type: string, priority?: number): PrinterColumn {
  const jsonPath = `.status.conditions[?(@.type=='${type}')].status`;
  return { name, type: "string", jsonPath, ...(priority && { priority }) };
}

/** The columns of a kind that maintains a number of others. */
function scaled(others: string): Presentation {
  return {
    listed: true,
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.labelSelector",
      },
    },
    columns: [
      {
        name: "Desired",
        type: "integer",
        jsonPath: ".spec.replicas",
        description: `How many ${others} there should be`,
      },
      {
        name: "Current",
        type: "integer",
        jsonPath: ".status.replicas",
        description: "How many are neither final nor being deleted",
      },
      {
        name: "Ready",
        type: "integer",
        jsonPath: ".status.readyReplicas",
        description: "How many of them are ready",
      },
      age,
    ],
  };
}

const presentations: Readonly<Record<ObjectKindName, Presentation>> = {
  VirtualMachine: {
    shortNames: ["vm", "vms"],
    listed: true,
    subresources: { status: {} },
    columns: [
      age,
      {
        name: "Status",
        type: "string",
        jsonPath: ".status.printableStatus",
        description: "The VM's state in one word",
      },
      condition("Ready", "Ready"),
    ],
  },
  // No status subresource: launchers' agents and controllers write the whole object.
  VirtualMachineInstance: {
    shortNames: ["vmi", "vmis"],
    listed: true,
    columns: [
      age,
      phase,
      { name: "IP", type: "string", jsonPath: ".status.interfaces[0].ipAddress" },
      { name: "NodeName", type: "string", jsonPath: ".status.nodeName" },
      condition("Ready", "Ready"),
      condition("Live-Migratable", "LiveMigratable", 1),
      condition("Paused", "Paused", 1),
    ],
  },
  VirtualMachineInstanceMigration: {
    shortNames: ["vmim", "vmims"],
    listed: true,
    subresources: { status: {} },
    columns: [
      { ...phase, description: "The phase of the migration" },
      {
        name: "VMI",
        type: "string",
        jsonPath: ".spec.vmiName",
        description: "The VMI that moves",
      },
    ],
  },
  VirtualMachineInstanceReplicaSet: {
    shortNames: ["vmirs", "vmirss"],
    ...scaled("instances"),
  },
  VirtualMachinePool: { shortNames: ["vmpool", "vmpools"], ...scaled("VMs") },
  KubeVirt: {
    shortNames: ["kv", "kvs"],
    listed: true,
    subresources: { status: {} },
    columns: [age, phase],
  },
  MigrationPolicy: { subresources: { status: {} } },
  VirtualMachineInstancetype: {
    shortNames: ["vminstancetype", "vminstancetypes", "vmf", "vmfs"],
    listed: true,
  },
  VirtualMachineClusterInstancetype: {
    shortNames: ["vmclusterinstancetype", "vmclusterinstancetypes", "vmcf", "vmcfs"],
  },
  VirtualMachinePreference: {
    shortNames: ["vmpref", "vmprefs", "vmp", "vmps"],
    listed: true,
  },
  VirtualMachineClusterPreference: { shortNames: ["vmcp", "vmcps"] },
};
