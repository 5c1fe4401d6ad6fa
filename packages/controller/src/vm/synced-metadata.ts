import { at, entry, isSet, object } from "@virtkit/api/shape";
import { mapPatch, type TextMap } from "../plan/map-patch.ts";
import { isDeleting } from "../plan/ownership.ts";
import { withValue } from "./template-change.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** Annotations by which a template steers the descheduler; running VMIs follow them. */
const deschedulerAnnotations = [
  "descheduler.alpha.kubernetes.io/evict",
  "descheduler.alpha.kubernetes.io/prefer-no-eviction",
];

/** Carries labels and annotations over to the VMI that others read from it while it runs. */
export function syncMetadata(pass: VmPass): Stop | undefined {
  const { vm, vmi, options, config } = pass;
  const template = at(vm, "spec", "template", "metadata");
  if (!vmi || isDeleting(vmi) || !isSet(at(vm, "spec", "template"))) return undefined;
  const before = {
    labels: at(vmi, "metadata", "labels") as TextMap | undefined,
    annotations: at(vmi, "metadata", "annotations") as TextMap | undefined,
  };
  const followed = [...deschedulerAnnotations, ...(options.syncedAnnotations ?? [])];
  const labels = follow(options.syncedLabels ?? [], at(template, "labels"), before.labels);
  const annotations = follow(
    [config.names.annotations.skipBackupHooks],
    at(vm, "metadata", "annotations"),
    follow(followed, at(template, "annotations"), before.annotations),
  );
  const refusal = pass.patchVmi([
    ...mapPatch(["metadata", "labels"], before.labels, labels),
    ...mapPatch(["metadata", "annotations"], before.annotations, annotations),
  ]);
  if (refusal) {
    const message = `the VMI's labels and annotations were not changed: ${refusal.message}`;
    return failed("AnnotationsLabelsChangeError", message);
  }
  const labelled = withValue(vmi, ["metadata", "labels"], labels);
  pass.vmi = withValue(labelled, ["metadata", "annotations"], annotations);
  return undefined;
}

/** A map with the keys that match a pattern as the source has them, or not at all if it does not. */
function follow(patterns: readonly string[], source: unknown, target: unknown): TextMap {
  const result = { ...(object(target) as TextMap) };
  const keys = new Set([...Object.keys(object(source)), ...Object.keys(result)]);
  for (const key of keys) {
    if (!patterns.some((pattern) => matches(pattern, key))) continue;
    const value = entry(source, key);
    if (value === undefined) delete result[key];
    else result[key] = value;
  }
  return result;
}

/** A `*` alone would take everything, which nobody means. */
function matches(pattern: string, key: string): boolean {
  if (!pattern.endsWith("*")) return pattern === key;
  return pattern.length > 1 && key.startsWith(pattern.slice(0, -1));
}
