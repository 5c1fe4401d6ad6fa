import type { ClusterConfig } from "../config/index.ts";
import type { VirtualMachine, Volume } from "../schema/index.ts";
import { quote } from "../schema/issue.ts";
import { at, entry, isSet, objects, text } from "../shape.ts";

/** The part of an object that inference reads. */
export interface Labelled {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}

/** The objects of the cluster; `undefined` if one does not exist. */
export interface VolumeLookup {
  claim(namespace: string, name: string): Labelled | undefined;
  dataVolume(namespace: string, name: string): Labelled | undefined;
  dataSource(namespace: string, name: string): Labelled | undefined;
  snapshot(namespace: string, name: string): Labelled | undefined;
}

/** The default that a volume provides, or why there is none. */
export type Inferred =
  | { readonly name: string; readonly kind: string }
  | {
      readonly problem: string;
      /** Whether `inferFromVolumeFailurePolicy: Ignore` covers it. It does not cover a missing object. */
      readonly ignorable: boolean;
    };

/** Which of the two is inferred. */
export type MatcherKind = "instancetype" | "preference";

/**
 * The instance type or the preference that a volume of a VM names by labels: those of the claim, the DataVolume
 * or the DataSource itself, otherwise those of its source.
 */
export function inferMatcher(
  vm: VirtualMachine,
  volumeName: string,
  kind: MatcherKind,
  lookup: VolumeLookup,
  { names }: Pick<ClusterConfig, "names">,
): Inferred {
  const volume = objects<Volume>(at(vm, "spec", "template", "spec", "volumes")).find(
    ({ name }) => name === volumeName,
  );
  if (!volume) {
    return failed(
      `inferFromVolume is ${quote(volumeName)}, which is not in spec.template.spec.volumes`,
    );
  }
  const { labels } = names;
  const label = kind === "instancetype" ? labels.defaultInstancetype : labels.defaultPreference;
  const trail = new Trail(label, text(at(vm, "metadata", "namespace")), lookup);
  if (isSet(volume.persistentVolumeClaim)) {
    return trail.claim(trail.namespace, text(at(volume.persistentVolumeClaim, "claimName")));
  }
  if (isSet(volume.dataVolume)) return trail.dataVolume(vm, text(at(volume.dataVolume, "name")));
  return ignorable(
    `volume ${quote(volumeName)} has no defaults; use a persistentVolumeClaim or a dataVolume`,
  );
}

function failed(problem: string): Inferred {
  return { problem, ignorable: false };
}

function missing(kind: string, namespace: string, name: string): Inferred {
  return failed(
    `${kind} ${quote(name)} does not exist in namespace ${quote(namespace)}; create it`,
  );
}

function ignorable(problem: string): Inferred {
  return { problem, ignorable: true };
}

/** The path from a volume to labels; each step ends it or leads to another object. */
class Trail {
  readonly namespace: string;
  readonly #label: string;
  readonly #lookup: VolumeLookup;

  constructor(label: string, namespace: string, lookup: VolumeLookup) {
    this.namespace = namespace;
    this.#label = label;
    this.#lookup = lookup;
  }

  claim(namespace: string, name: string): Inferred {
    const claim = this.#lookup.claim(namespace, name);
    return claim ? this.#labels(claim) : missing("PersistentVolumeClaim", namespace, name);
  }

  dataVolume(vm: VirtualMachine, name: string): Inferred {
    const template = objects(at(vm, "spec", "dataVolumeTemplates")).find(
      (item) => at(item, "metadata", "name") === name,
    );
    if (template) return this.#source(template["spec"]);
    const found = this.#lookup.dataVolume(this.namespace, name);
    // A DataVolume that was garbage-collected leaves a claim of its name.
    if (!found) return this.claim(this.namespace, name);
    const own = this.#labels(found);
    return "name" in own ? own : this.#source(found.spec);
  }

  #source(spec: unknown): Inferred {
    const cloned = this.#clone(at(spec, "source"));
    if (cloned) return cloned;
    const reference = at(spec, "sourceRef");
    if (!isSet(reference)) {
      return ignorable(
        "the DataVolume's source is not a claim, a snapshot or a DataSource; only those have defaults",
      );
    }
    const kind = text(at(reference, "kind"));
    if (kind !== "DataSource") {
      return ignorable(
        `sourceRef.kind of the DataVolume is ${quote(kind)}; only a DataSource has defaults`,
      );
    }
    const namespace = at(reference, "namespace");
    return this.#dataSource(
      isSet(namespace) ? text(namespace) : this.namespace,
      text(at(reference, "name")),
    );
  }

  #dataSource(namespace: string, name: string): Inferred {
    const found = this.#lookup.dataSource(namespace, name);
    if (!found) return missing("DataSource", namespace, name);
    const own = this.#labels(found);
    if ("name" in own) return own;
    return (
      this.#clone(at(found.spec, "source")) ??
      ignorable(
        `DataSource ${quote(name)} has no label ${this.#label}, and no claim or snapshot to take it from`,
      )
    );
  }

  /** The source that a claim or a snapshot names. */
  #clone(source: unknown): Inferred | undefined {
    const claim = at(source, "pvc");
    if (isSet(claim)) return this.claim(text(at(claim, "namespace")), text(at(claim, "name")));
    const snapshot = at(source, "snapshot");
    if (!isSet(snapshot)) return undefined;
    const namespace = text(at(snapshot, "namespace"));
    const name = text(at(snapshot, "name"));
    const found = this.#lookup.snapshot(namespace, name);
    return found ? this.#labels(found) : missing("VolumeSnapshot", namespace, name);
  }

  #labels(object: Labelled): Inferred {
    const labels = at(object, "metadata", "labels");
    const name = entry(labels, this.#label);
    if (name === undefined) {
      return ignorable(
        `the volume's source has no label ${this.#label}; add it, or set name instead of inferFromVolume`,
      );
    }
    return { name, kind: entry(labels, `${this.#label}-kind`) ?? "" };
  }
}
