import type { DataVolumeTemplateSpec, VirtualMachineSpec, Volume } from "@virtkit/api/schema";
import { at, isObject, type JsonObject, object, objects, text } from "@virtkit/api/shape";
import type { PoolPass } from "./pool-pass.ts";

/** The parts of a VM that come from its pool. */
export interface IndexedVm {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly spec: VirtualMachineSpec;
}

/**
 * The template for the VM with this number. Its DataVolumes have the number in their names and, if
 * the pool wants that, so do the ConfigMaps and Secrets that it refers to. Labels say which spec of
 * the pool it was made from.
 */
export function indexedVm(pass: PoolPass, index: number, revision: string): IndexedVm {
  const { virtualMachineTemplate, nameGeneration } = pass.pool.spec;
  const label = { [pass.config.names.labels.poolRevision]: revision };
  const spec = object(virtualMachineTemplate?.spec);
  const template = object(spec["template"]);
  const metadata = object(template["metadata"]);
  const suffix = `-${index}`;
  const templates = objects<DataVolumeTemplateSpec>(spec["dataVolumeTemplates"]);
  const dataVolumes = new Set(templates.map((item) => text(at(item, "metadata", "name"))));
  const rename = {
    dataVolumes,
    suffix,
    configMaps: nameGeneration?.appendIndexToConfigMapRefs === true,
    secrets: nameGeneration?.appendIndexToSecretRefs === true,
  };
  const indexed: JsonObject = {
    ...spec,
    ...(templates.length > 0
      ? { dataVolumeTemplates: templates.map((item) => renamed(item, suffix)) }
      : {}),
    template: {
      ...template,
      metadata: { ...metadata, labels: { ...object(metadata["labels"]), ...label } },
      spec: indexedTemplate(object(template["spec"]), rename),
    },
  };
  const { labels, annotations } = virtualMachineTemplate?.metadata ?? {};
  return {
    labels: { ...labels, ...label },
    annotations: annotations && { ...annotations },
    spec: indexed as unknown as VirtualMachineSpec,
  };
}

interface Renaming {
  readonly suffix: string;
  /** Names of the VM's own DataVolumes, which get the suffix wherever they are used. */
  readonly dataVolumes: ReadonlySet<string>;
  readonly configMaps: boolean;
  readonly secrets: boolean;
}

function renamed(template: DataVolumeTemplateSpec, suffix: string): DataVolumeTemplateSpec {
  const metadata = object(template.metadata);
  return { ...template, metadata: { ...metadata, name: `${text(metadata["name"])}${suffix}` } };
}

function indexedTemplate(spec: JsonObject, renaming: Renaming): JsonObject {
  const volumes = spec["volumes"];
  if (!Array.isArray(volumes)) return spec;
  return { ...spec, volumes: volumes.map((volume) => indexedVolume(object(volume), renaming)) };
}

/** A volume has one source; only the first one counts. */
function indexedVolume(volume: JsonObject, renaming: Renaming): JsonObject {
  const { dataVolumes, configMaps, secrets } = renaming;
  const sources: readonly [keyof Volume, string, boolean | ReadonlySet<string>][] = [
    ["persistentVolumeClaim", "claimName", dataVolumes],
    ["dataVolume", "name", dataVolumes],
    ["configMap", "name", configMaps],
    ["secret", "secretName", secrets],
  ];
  for (const [source, field, applies] of sources) {
    const value = volume[source];
    if (!isObject(value)) continue;
    const name = text(value[field]);
    const isRenamed = typeof applies === "boolean" ? applies : applies.has(name);
    if (!isRenamed) return volume;
    return { ...volume, [source]: { ...value, [field]: `${name}${renaming.suffix}` } };
  }
  return secrets ? withIndexedSecrets(volume, renaming.suffix) : volume;
}

function withIndexedSecrets(volume: JsonObject, suffix: string): JsonObject {
  for (const source of ["cloudInitNoCloud", "cloudInitConfigDrive"]) {
    const value = volume[source];
    if (!isObject(value)) continue;
    const references = ["secretRef", "networkDataSecretRef"].flatMap((field) => {
      const reference = value[field];
      if (!isObject(reference)) return [];
      return [[field, { ...reference, name: `${text(reference["name"])}${suffix}` }]];
    });
    return { ...volume, [source]: { ...value, ...Object.fromEntries(references) } };
  }
  return volume;
}
