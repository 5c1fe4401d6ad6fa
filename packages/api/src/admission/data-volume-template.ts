import {
  type DataVolumeTemplateSpec,
  DataVolumeTemplateSpecSchema,
  type VirtualMachine,
  type VirtualMachineSpec,
} from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, countSet, each, fine, invalid, quote, required } from "./cause.ts";
import { semanticallyEqual } from "./semantic-equality.ts";

/** Volumes that are created with the VM. The reported paths are in the singular, as in KubeVirt. */
export function dataVolumeTemplates(spec: VirtualMachineSpec): readonly Cause[] {
  const templates = spec.dataVolumeTemplates;
  if (!templates?.length) return fine;
  const used = usedVolumes(spec);
  return each(templates, (template, i) => {
    const where = {
      field: `spec.dataVolumeTemplate[${i}]`,
      subject: `spec.dataVolumeTemplates[${i}]`,
    };
    const problem = templateProblem(template, where);
    if (problem.length > 0 || used.has(template.metadata?.name ?? "")) return problem;
    return required(where.field, "is not used; add a volume with its dataVolume", where.subject);
  });
}

/** A template must not refer to another namespace; checked for new or changed templates. */
export function dataVolumeNamespaces(
  vm: VirtualMachine,
  old: VirtualMachine | undefined,
  namespace: string,
): readonly Cause[] {
  const templates = vm.spec.dataVolumeTemplates ?? [];
  const before = old?.spec.dataVolumeTemplates ?? [];
  if (old && sameTemplates(templates, before)) return fine;
  const home = vm.metadata?.namespace || namespace;
  return each(templates, ({ metadata }, i) => {
    const found = metadata?.namespace;
    if (!found || found === home) return fine;
    return invalid(
      `spec.dataVolumeTemplates[${i}]`,
      `is for namespace ${quote(found)}, but the VM is in ${quote(home)}; remove metadata.namespace`,
    );
  });
}

function sameTemplates(
  a: readonly DataVolumeTemplateSpec[],
  b: readonly DataVolumeTemplateSpec[],
): boolean {
  return (
    a.length === b.length &&
    a.every((template, i) => {
      const other = b[i];
      const holder = "dataVolumeTemplates";
      return other && semanticallyEqual(DataVolumeTemplateSpecSchema, template, other, holder);
    })
  );
}

function usedVolumes({ template }: VirtualMachineSpec): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { persistentVolumeClaim, dataVolume } of template.spec?.volumes ?? []) {
    if (persistentVolumeClaim) names.add(persistentVolumeClaim.claimName);
    if (dataVolume) names.add(dataVolume.name);
  }
  return names;
}

interface Where {
  readonly field: string;
  readonly subject: string;
}

/** The first fault of a template on its own. */
function templateProblem(
  { metadata, spec }: DataVolumeTemplateSpec,
  { field, subject }: Where,
): readonly Cause[] {
  if (!metadata?.name) {
    return required(`${field}.name`, "is missing; set it", `${subject}.metadata.name`);
  }
  const { pvc, storage, source, sourceRef } = spec;
  if (countSet(pvc, storage) !== 1) {
    const found = pvc ? "both pvc and storage" : "neither pvc nor storage";
    return invalid(`${field}.PVC.Storage`, `has ${found}; set one`, `${subject}.spec`);
  }
  const { dataSource, dataSourceRef } = pvc ?? storage ?? {};
  const external = countSet(dataSource, dataSourceRef) > 0;
  const imported = countSet(source, sourceRef) > 0;
  if (external && imported) {
    const text = "has source or sourceRef and also a dataSource; keep one";
    return invalid(`${field}.source`, text, `${subject}.spec`);
  }
  if (!external && !imported) {
    const text = "has no content; set source, sourceRef or a dataSource";
    return invalid(`${field}.source.sourceRef`, text, `${subject}.spec`);
  }
  if (!source) return fine;
  const kinds = Object.entries(source).filter(([, value]) => isSet(value)).length;
  if (kinds === 1) return fine;
  const found = kinds === 0 ? "is empty" : `has ${kinds} kinds`;
  return invalid(
    `${field}.source`,
    `${found}; set one, for example http or pvc`,
    `${subject}.spec.source`,
  );
}
