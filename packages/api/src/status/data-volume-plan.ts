import type { ClusterConfig } from "../config/index.ts";
import type { Names } from "../names/index.ts";
import type { DataVolumeTemplateSpec, VirtualMachine } from "../schema/index.ts";
import { quote } from "../schema/issue.ts";
import { at, isObject, isSet, type JsonObject, object, objects, text } from "../shape.ts";
import { controlledBy } from "./owner-reference.ts";
import type { CloneSource, PlannedEvent, Write } from "./plan.ts";
import { uidOf } from "./state-change-requests.ts";
import {
  type DataVolume,
  inNamespaceOf,
  phaseOf,
  quotaMessage,
  type VmStorage,
} from "./vm-storage.ts";

/** The used part of a DataSource: where the data comes from. */
export interface DataSource {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly spec?: { readonly source?: unknown };
  readonly status?: { readonly source?: unknown };
}

/** The objects that DataVolumes depend on. */
export interface DataVolumeView extends VmStorage {
  readonly config: Pick<ClusterConfig, "names">;
  readonly dataSources?: readonly DataSource[] | undefined;
  /** Whether the cluster has no CDI. Sources are then left as they are, because nobody can resolve them. */
  readonly isWithoutCdi?: boolean | undefined;
  /** The VM's VMI. If there is one, it uses the DataVolumes already, whoever they belong to. */
  readonly vmi?: unknown;
}

/** What the DataVolume templates of a VM need. */
export interface DataVolumePlan {
  readonly writes: readonly Write[];
  readonly events: readonly PlannedEvent[];
  /** Whether every DataVolume has its data, or will get it when it is first used. */
  readonly ready: boolean;
  /** Why it cannot continue. */
  readonly error?: string;
}

/** One template's part of a plan. */
type Step = Partial<DataVolumePlan> & Pick<DataVolumePlan, "ready">;

/** Creates missing DataVolumes and says whether the VM may start. Stops at an error. */
export function planDataVolumes(vm: VirtualMachine, view: DataVolumeView): DataVolumePlan {
  const writes: Write[] = [];
  const events: PlannedEvent[] = [];
  let ready = true;
  for (const template of objects<DataVolumeTemplateSpec>(at(vm, "spec", "dataVolumeTemplates"))) {
    const name = text(at(template, "metadata", "name"));
    const present = inNamespaceOf(vm, name, view.dataVolumes);
    const step = present
      ? (refuseEarlier(vm, name, present, view) ?? watch(name, present))
      : create(vm, name, template, view);
    writes.push(...(step.writes ?? []));
    events.push(...(step.events ?? []));
    ready &&= step.ready;
    if (step.error !== undefined) return { writes, events, ready: false, error: step.error };
  }
  return { writes, events, ready };
}

/** The claims that the VM's DataVolume templates clone, also in other namespaces, by way of DataSources or without. */
export function clonedClaims(
  vm: VirtualMachine,
  view: Pick<DataVolumeView, "dataSources">,
): readonly { readonly namespace: string; readonly name: string }[] {
  return objects<DataVolumeTemplateSpec>(at(vm, "spec", "dataVolumeTemplates")).flatMap(
    (template) => {
      const claim = at(sourceOf(vm, template, view), "source", "pvc");
      const name = text(at(claim, "name"));
      return name === "" ? [] : [{ namespace: text(at(claim, "namespace")), name }];
    },
  );
}

/**
 * A DataVolume of an earlier VM of this name still has its data, but will be removed with that VM: a guest that starts on
 * it loses it. DataVolumes of other VMs are their users' business.
 */
function refuseEarlier(
  vm: VirtualMachine,
  name: string,
  dataVolume: DataVolume,
  { vmi }: DataVolumeView,
): Step | undefined {
  const owner = objects(at(dataVolume, "metadata", "ownerReferences")).find(
    ({ controller }) => controller === true,
  );
  const isEarlier =
    owner?.["kind"] === "VirtualMachine" &&
    owner["name"] === at(vm, "metadata", "name") &&
    owner["uid"] !== uidOf(vm);
  if (isSet(vmi) || !isEarlier) return undefined;
  if (isSet(at(dataVolume, "metadata", "deletionTimestamp"))) return { ready: false };
  const error = `DataVolume "${name}" belongs to an earlier VM of this name, with UID ${text(owner["uid"])}; wait until it is removed, or delete it`;
  return { ready: false, error };
}

function watch(name: string, dataVolume: DataVolume): Step {
  const failed = (message: string): PlannedEvent => ({
    type: "Warning",
    reason: "FailedDataVolumeImport",
    message: `DataVolume "${name}" ${message}`,
  });
  switch (phaseOf(dataVolume)) {
    case "Succeeded":
    case "WaitForFirstConsumer":
    case "PendingPopulation":
      return { ready: true };
    case "Failed":
      return { ready: false, events: [failed("has failed; see its events")] };
    case "Pending": {
      const quota = quotaMessage(dataVolume);
      if (quota === undefined) return { ready: false };
      const error = `DataVolume "${name}" is not being filled: ${quota}`;
      return {
        ready: false,
        events: [failed("exceeds the quota of its namespace")],
        error,
      };
    }
    default:
      return { ready: false };
  }
}

function create(
  vm: VirtualMachine,
  name: string,
  template: DataVolumeTemplateSpec,
  view: DataVolumeView,
): Step {
  const found = specOf(vm, template, view);
  if ("error" in found) return { ready: false, error: found.error };
  const { spec } = found;
  const source = at(spec, "source", "pvc");
  const events: PlannedEvent[] = [];
  if (source && !isPresent(source, view)) {
    const message = `the claim "${text(at(source, "name"))}", which DataVolume "${name}" clones, does not exist; create it`;
    events.push({ type: "Warning", reason: "SourcePVCNotAvailabe", message });
  }
  const clones = clonedBy(spec);
  events.push({
    type: "Normal",
    reason: "SuccessfulDataVolumeCreate",
    message: `DataVolume "${name}" was created for the VM`,
  });
  const write: Write = {
    kind: "create",
    resource: "datavolumes",
    object: manifest(vm, template, spec, view.config.names),
    ...(clones ? { clones } : {}),
  };
  return { ready: false, writes: [write], events };
}

function manifest(
  vm: VirtualMachine,
  template: DataVolumeTemplateSpec,
  spec: JsonObject,
  names: Names,
): JsonObject {
  const metadata = object(template.metadata);
  return {
    apiVersion: "cdi.kubevirt.io/v1beta1",
    kind: "DataVolume",
    metadata: {
      ...metadata,
      labels: { ...object(metadata["labels"]), [names.labels.createdBy]: uidOf(vm) },
      // Lets CDI adopt an existing claim, for example after a restore.
      annotations: {
        ...object(metadata["annotations"]),
        "cdi.kubevirt.io/allowClaimAdoption": "true",
      },
      ownerReferences: [controlledBy(vm, names)],
    },
    spec,
  };
}

/** The template's spec with its resolved source, and the VM's priority. */
function specOf(
  vm: VirtualMachine,
  template: DataVolumeTemplateSpec,
  view: DataVolumeView,
): { readonly spec: JsonObject } | { readonly error: string } {
  const spec = object(template.spec);
  const priority = text(at(vm, "spec", "template", "spec", "priorityClassName"));
  const withPriority =
    priority && !text(spec["priorityClassName"]) ? { ...spec, priorityClassName: priority } : spec;
  if (view.isWithoutCdi) return { spec: withPriority };
  const resolved = sourceOf(vm, template, view);
  if ("error" in resolved) return resolved;
  if (!resolved.source) {
    return isSet(spec["sourceRef"])
      ? {
          error: `${sourceRefOf(template)} leads to neither a claim nor a snapshot; name a DataSource that does`,
        }
      : { spec: withPriority };
  }
  const { sourceRef: _, ...rest } = withPriority as JsonObject & { sourceRef?: unknown };
  return { spec: { ...rest, source: resolved.source } };
}

function sourceOf(
  vm: VirtualMachine,
  template: DataVolumeTemplateSpec,
  view: Pick<DataVolumeView, "dataSources">,
): { readonly source?: JsonObject } | { readonly error: string } {
  const spec = object(template.spec);
  const own = text(at(vm, "metadata", "namespace"));
  if (at(spec, "sourceRef", "kind") !== "DataSource") return clonable(spec["source"], own);
  const namespace = text(at(spec, "sourceRef", "namespace")) || own;
  const name = text(at(spec, "sourceRef", "name"));
  const found = objects<DataSource>(view.dataSources).find(
    (item) =>
      at(item, "metadata", "name") === name && at(item, "metadata", "namespace") === namespace,
  );
  if (!found) {
    const error = `${sourceRefOf(template)} is ${quote(name)}, which does not exist in namespace ${quote(namespace)}; create it`;
    return { error };
  }
  const isReference = isSet(at(found, "spec", "source", "dataSource"));
  return clonable(at(found, isReference ? "status" : "spec", "source"), namespace);
}

function sourceRefOf(template: DataVolumeTemplateSpec): string {
  return `sourceRef of DataVolume "${text(at(template, "metadata", "name"))}"`;
}

/** A claim or a snapshot, with its namespace; other sources are left as they are. */
function clonable(source: unknown, namespace: string): { readonly source?: JsonObject } {
  for (const kind of ["pvc", "snapshot"] as const) {
    const value = at(source, kind);
    if (!isObject(value)) continue;
    return { source: { [kind]: { ...value, namespace: text(value["namespace"]) || namespace } } };
  }
  return {};
}

function clonedBy(spec: JsonObject): CloneSource | undefined {
  const kinds = { pvc: "PersistentVolumeClaim", snapshot: "VolumeSnapshot" } as const;
  for (const field of ["pvc", "snapshot"] as const) {
    const source = at(spec, "source", field);
    if (!source) continue;
    const [namespace, name] = [text(at(source, "namespace")), text(at(source, "name"))];
    return { kind: kinds[field], namespace, name };
  }
  return undefined;
}

function isPresent(source: unknown, { claims }: DataVolumeView): boolean {
  return objects(claims).some(
    (claim) =>
      at(claim, "metadata", "name") === at(source, "name") &&
      at(claim, "metadata", "namespace") === at(source, "namespace"),
  );
}
