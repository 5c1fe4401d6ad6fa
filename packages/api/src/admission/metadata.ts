import type { ClusterConfig, FeatureGate } from "../config/index.ts";
import type { Names } from "../names/index.ts";
import type { ObjectMeta } from "../schema/index.ts";
import { type Cause, fine, invalid, join, notSupported } from "./cause.ts";

/** Labels that KubeVirt uses internally; a user who sets one could mislead it. */
function reservedLabels({ labels, nodeLabels }: Names): readonly string[] {
  return [
    labels.createdBy,
    labels.migrationJobUid,
    labels.nodeName,
    labels.migrationTargetNodeName,
    nodeLabels.schedulable,
    labels.installStrategy,
  ];
}

function gatedAnnotations({ annotations }: Names): readonly (readonly [string, FeatureGate])[] {
  return [
    [annotations.ignitionData, "ExperimentalIgnitionSupport"],
    [annotations.hookSidecars, "Sidecar"],
  ];
}

/** The reserved labels of an object. */
export function reserved(
  metadata: ObjectMeta | undefined,
  names: Names,
): Readonly<Record<string, string>> {
  const labels = metadata?.labels;
  if (!labels) return {};
  return Object.fromEntries(
    reservedLabels(names).flatMap((key) =>
      Object.hasOwn(labels, key) ? [[key, labels[key] ?? ""]] : [],
    ),
  );
}

/** Labels and annotations that only KubeVirt may set, or that need a feature gate. */
export function metadata(
  meta: ObjectMeta | undefined,
  { at, config, byKubeVirt }: { at: string; config: ClusterConfig; byKubeVirt: boolean },
): readonly Cause[] {
  if (!meta) return fine;
  const [label] = byKubeVirt ? [] : Object.keys(reserved(meta, config.names));
  return join(
    label ? notSupported(`${at}.labels`, `has ${label}, which KubeVirt sets; remove it`) : fine,
    gatedAnnotations(config.names).flatMap(([key, gate]) =>
      !meta.annotations?.[key] || config.gate(gate)
        ? fine
        : invalid(
            `${at}.annotations`,
            `has ${key}, which needs the feature gate ${gate}; remove it or turn the gate on`,
          ),
    ),
  );
}
