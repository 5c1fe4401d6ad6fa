import { at, isSet, object } from "@virtkit/api/shape";
import { mapPatch, type TextMap } from "../plan/map-patch.ts";
import { isDeleting } from "../plan/ownership.ts";
import { withSynced } from "../vmi/synced-keys.ts";
import { withValue } from "./template-change.ts";
import { failed, type Stop, type VmPass } from "./vm-pass.ts";

/** Annotations with which a template controls the descheduler; running VMIs follow them. */
const deschedulerAnnotations = [
  "descheduler.alpha.kubernetes.io/evict",
  "descheduler.alpha.kubernetes.io/prefer-no-eviction",
];

/** Copies labels and annotations to the VMI that others read while it runs. */
export function syncMetadata(pass: VmPass): Stop | undefined {
  const { vm, vmi, options, config } = pass;
  const template = at(vm, "spec", "template", "metadata");
  if (!vmi || isDeleting(vmi) || !isSet(at(vm, "spec", "template"))) return undefined;
  const before = {
    labels: at(vmi, "metadata", "labels") as TextMap | undefined,
    annotations: at(vmi, "metadata", "annotations") as TextMap | undefined,
  };
  const followed = [...deschedulerAnnotations, ...(options.syncedAnnotations ?? [])];
  const source = (value: unknown): TextMap => object(value) as TextMap;
  const labels = withSynced(
    before.labels ?? {},
    source(at(template, "labels")),
    options.syncedLabels ?? [],
  );
  const annotations = withSynced(
    withSynced(before.annotations ?? {}, source(at(template, "annotations")), followed),
    source(at(vm, "metadata", "annotations")),
    [config.names.annotations.skipBackupHooks],
  );
  const refusal = pass.patchVmi([
    ...mapPatch(["metadata", "labels"], before.labels, labels),
    ...mapPatch(["metadata", "annotations"], before.annotations, annotations),
  ]);
  if (refusal) {
    const message = `the VMI's labels and annotations could not be changed: ${refusal.message}`;
    return failed("AnnotationsLabelsChangeError", message);
  }
  const labelled = withValue(vmi, ["metadata", "labels"], labels);
  pass.vmi = withValue(labelled, ["metadata", "annotations"], annotations);
  return undefined;
}
