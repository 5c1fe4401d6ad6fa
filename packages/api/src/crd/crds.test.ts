import { describe, expect, test } from "vitest";
import { type ObjectKindName, objectKinds } from "../schema/index.ts";
import { type CustomResourceDefinition, crds } from "./crds.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const all = crds();

function byKind(kind: ObjectKindName): CustomResourceDefinition {
  const found = all.find(({ spec }) => spec.names.kind === kind);
  if (!found) throw new Error(`no definition of ${kind}`);
  return found;
}

describe("the definitions", () => {
  test("are one per kind, named by plural and group", () => {
    expect(all.map(({ metadata }) => metadata.name)).toEqual([
      "virtualmachines.kubevirt.io",
      "virtualmachineinstances.kubevirt.io",
      "virtualmachineinstancemigrations.kubevirt.io",
      "virtualmachineinstancereplicasets.kubevirt.io",
      "virtualmachinepools.pool.kubevirt.io",
      "kubevirts.kubevirt.io",
      "migrationpolicies.migrations.kubevirt.io",
      "virtualmachineinstancetypes.instancetype.kubevirt.io",
      "virtualmachineclusterinstancetypes.instancetype.kubevirt.io",
      "virtualmachinepreferences.instancetype.kubevirt.io",
      "virtualmachineclusterpreferences.instancetype.kubevirt.io",
    ]);
  });

  test("are the same on every call, and plain JSON", () => {
    expect(crds()).toEqual(all);
    expect(JSON.parse(JSON.stringify(all))).toEqual(all);
  });

  test("store one version and still serve the deprecated ones", () => {
    const versions = ({ spec }: CustomResourceDefinition): string[] =>
      spec.versions.map(({ name, storage, deprecated }) => `${name} ${storage} ${deprecated}`);
    expect(versions(byKind("VirtualMachine"))).toEqual([
      "v1 true undefined",
      "v1alpha3 false true",
    ]);
    expect(versions(byKind("MigrationPolicy"))).toEqual(["v1alpha1 true undefined"]);
  });

  test("fit into the annotation of a client-side apply", () => {
    for (const definition of all) expect(JSON.stringify(definition).length).toBeLessThan(262_144);
  });

  test("are labelled with the group, except the installation's own with the operator's", () => {
    expect(byKind("VirtualMachine").metadata.labels).toEqual({ "kubevirt.io": "" });
    expect(byKind("KubeVirt").metadata.labels).toEqual({ "operator.kubevirt.io": "" });
  });

  test("take another group and other labels", () => {
    const [first, ...rest] = crds({ group: "vm.example", labels: { team: "a" } });
    expect(first?.metadata).toEqual({ name: "virtualmachines.vm.example", labels: { team: "a" } });
    expect(rest.every(({ spec }) => spec.group.endsWith("vm.example"))).toBe(true);
  });

  test("show useful columns", () => {
    const { spec } = byKind("VirtualMachineInstance");
    expect(spec.names).toMatchObject({ shortNames: ["vmi", "vmis"], categories: ["all"] });
    expect(spec.versions[0]?.additionalPrinterColumns?.map(({ name }) => name)).toEqual([
      "Age",
      "Phase",
      "IP",
      "NodeName",
      "Ready",
      "Live-Migratable",
      "Paused",
    ]);
  });

  test("have a status subresource except for VMIs, and a scale for replica sets and pools", () => {
    const subresources = (Object.keys(objectKinds) as ObjectKindName[]).map((kind) => [
      kind,
      ...Object.keys(byKind(kind).spec.versions[0]?.subresources ?? {}),
    ]);
    expect(subresources.filter(([, first]) => first)).toEqual([
      ["VirtualMachine", "status"],
      ["VirtualMachineInstanceMigration", "status"],
      ["VirtualMachineInstanceReplicaSet", "status", "scale"],
      ["VirtualMachinePool", "status", "scale"],
      ["KubeVirt", "status"],
      ["MigrationPolicy", "status"],
    ]);
  });
});

/** Every schema within a definition, with its path. */
function* schemasOf(schema: StructuralSchema, path: string): Generator<[string, StructuralSchema]> {
  yield [path, schema];
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    yield* schemasOf(inner, `${path}.${name}`);
  }
  if (schema.items) yield* schemasOf(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* schemasOf(schema.additionalProperties, `${path}{}`);
}

describe("each schema", () => {
  const schemas = all.flatMap(({ spec }) => [
    ...schemasOf(spec.versions[0]?.schema.openAPIV3Schema ?? {}, spec.names.kind),
  ]);

  test("is structural: a type everywhere except at int-or-string, and never fields beside a map", () => {
    expect(schemas.length).toBeGreaterThan(3000);
    for (const [path, schema] of schemas) {
      expect(schema.type === undefined, path).toBe(schema["x-kubernetes-int-or-string"] === true);
      expect(schema.properties && schema.additionalProperties, path).toBeUndefined();
    }
  });

  test("requires the keys of a map list, as the API server demands", () => {
    const lists = schemas.filter(([, schema]) => schema["x-kubernetes-list-type"] === "map");
    expect(lists.length).toBeGreaterThan(3);
    for (const [path, { items, ...list }] of lists) {
      const keys = list["x-kubernetes-list-map-keys"] ?? [];
      expect(keys.length, path).toBeGreaterThan(0);
      expect(items?.required, path).toEqual(expect.arrayContaining([...keys]));
    }
  });
});

describe("a definition", () => {
  const schema = byKind("VirtualMachine").spec.versions[0]?.schema.openAPIV3Schema;
  const at = (path: string): StructuralSchema | undefined =>
    path
      .split(".")
      .reduce<StructuralSchema | undefined>(
        (inner, step) => (step === "[]" ? inner?.items : inner?.properties?.[step]),
        schema,
      );
  const template = "spec.template.spec";

  test.each<[string, StructuralSchema]>([
    ["metadata", { type: "object" }],
    [
      "spec.template.metadata",
      { type: "object", nullable: true, "x-kubernetes-preserve-unknown-fields": true },
    ],
    [`${template}.domain.cpu.cores`, { type: "integer", format: "int32" }],
    [`${template}.terminationGracePeriodSeconds`, { type: "integer", format: "int64" }],
    [`${template}.nodeSelector`, { type: "object", additionalProperties: { type: "string" } }],
    [
      `${template}.livenessProbe.httpGet.port`,
      { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
    ],
    [`${template}.domain.rebootPolicy`, { type: "string", enum: ["Reboot", "Terminate"] }],
    [`${template}.domain.devices.disks.[].disk.bus`, { type: "string" }],
    [`${template}.domain.devices.rng`, { type: "object" }],
    ["status.printableStatus", { type: "string", default: "Stopped" }],
    ["status.conditions.[].lastProbeTime", { type: "string", format: "date-time", nullable: true }],
  ])("has %s", (path, expected) => {
    expect(at(path)).toEqual(expected);
  });

  test("limits lists and says how to merge them", () => {
    expect(at(`${template}.volumes`)).toMatchObject({ type: "array", maxItems: 256 });
    expect(at(`${template}.utilityVolumes`)).toMatchObject({
      maxItems: 256,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    });
  });

  test("accepts quantities as numbers and as strings", () => {
    const { pattern = "", ...quantity } = at(`${template}.domain.memory.guest`) ?? {};
    expect(quantity).toEqual(at(`${template}.livenessProbe.httpGet.port`));
    expect(["2Gi", "1.5", "-3m"].every((text) => new RegExp(pattern).test(text))).toBe(true);
    expect(["", "2 Gi", "x"].some((text) => new RegExp(pattern).test(text))).toBe(false);
  });
});
