import { defineResource } from "@virtkit/kube";
import { isJsonObject } from "./json.ts";
import { type AnyObject, type Kind, kindKey, plainKind } from "./kind.ts";
import type { ServerState } from "./server-state.ts";
import { prune, type StructuralSchema, schemaProblems, withDefaults } from "./structural-schema.ts";

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema };
  readonly subresources?: { readonly status?: object };
}

interface CrdSpec {
  readonly group: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly CrdVersion[];
}

/** The definitions themselves. They are served as soon as they are stored. */
const definitions = plainKind(
  defineResource({
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  }),
  {
    created: (object) => ({
      ...object,
      status: {
        conditions: ["NamesAccepted", "Established"].map((type) => ({ type, status: "True" })),
        storedVersions: specOf(object)
          .versions.filter(({ storage }) => storage)
          .map(({ name }) => name),
      },
    }),
  },
);

function specOf({ spec }: AnyObject): CrdSpec {
  return spec as unknown as CrdSpec;
}

/** Serves the kinds that CustomResourceDefinitions describe, from their creation to their deletion. */
export function followCrds(server: ServerState): void {
  server.addKind(definitions);
  const key = kindKey(definitions.resource);
  server.log.follow(({ kind, type, object }) => {
    if (kind !== key) return;
    const custom = customKind(specOf(object));
    if (type === "DELETED") server.removeKind(custom.resource);
    else server.addKind(custom);
  });
}

/** The kind that a definition describes, in the version that is stored. */
function customKind({ group, scope, names, versions }: CrdSpec): Kind {
  const version = versions.find(({ storage }) => storage) ?? versions[0];
  if (!version) throw new TypeError(`the definition of ${names.plural} has no version`);
  const schema = version.schema?.openAPIV3Schema ?? {
    "x-kubernetes-preserve-unknown-fields": true,
  };
  const shaped = (object: AnyObject): AnyObject => shape(schema, object);
  return plainKind(
    defineResource({
      group,
      version: version.name,
      plural: names.plural,
      kind: names.kind,
      namespaced: scope === "Namespaced",
    }),
    {
      statusSubresource: version.subresources?.status !== undefined,
      unconditionalUpdate: false,
      statusTakesMetadata: false,
      strategicPatch: false,
      created: shaped,
      updated: shaped,
      problems: ({ metadata: _, ...object }) => schemaProblems(withoutMetadata(schema), object),
    },
  );
}

/** An object pruned and defaulted; its metadata is the server's own matter. */
function shape(
  schema: StructuralSchema,
  { metadata, apiVersion, kind, ...rest }: AnyObject,
): AnyObject {
  const shaped = withDefaults(schema, prune(schema, rest));
  return { apiVersion, kind, metadata, ...(isJsonObject(shaped) ? shaped : {}) } as AnyObject;
}

function withoutMetadata(schema: StructuralSchema): StructuralSchema {
  const { metadata: _, ...properties } = schema.properties ?? {};
  const required = (schema.required ?? []).filter((key) => key !== "metadata");
  return { ...schema, properties, required };
}
