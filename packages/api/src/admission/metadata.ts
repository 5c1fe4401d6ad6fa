import type { ClusterConfig, FeatureGate } from "../config/index.ts";
import type { ObjectMeta } from "../schema/index.ts";
import { type Cause, fine, invalid, notSupported } from "./cause.ts";

/** Labels by which KubeVirt keeps its own books; a user who set one could lead it astray. */
const reservedLabels = [
  "kubevirt.io/created-by",
  "kubevirt.io/migrationJobUID",
  "kubevirt.io/nodeName",
  "kubevirt.io/migrationTargetNodeName",
  "kubevirt.io/schedulable",
  "kubevirt.io/install-strategy",
] as const;

const gatedAnnotations: readonly (readonly [key: string, gate: FeatureGate])[] = [
  ["kubevirt.io/ignitiondata", "ExperimentalIgnitionSupport"],
  ["hooks.kubevirt.io/hookSidecars", "Sidecar"],
];

/** The reserved labels among those of an object. */
export function reserved(metadata: ObjectMeta | undefined): Readonly<Record<string, string>> {
  const labels = metadata?.labels;
  if (!labels) return {};
  return Object.fromEntries(
    reservedLabels.flatMap((key) => (Object.hasOwn(labels, key) ? [[key, labels[key] ?? ""]] : [])),
  );
}

/** Labels and annotations that only KubeVirt, or only an experiment, may set. */
export function metadata(
  meta: ObjectMeta | undefined,
  { at, config, byKubeVirt }: { at: string; config: ClusterConfig; byKubeVirt: boolean },
): readonly Cause[] {
  if (!meta) return fine;
  const [label] = byKubeVirt ? [] : Object.keys(reserved(meta));
  return [
    ...(label
      ? notSupported(`${at}.labels`, `has ${label}, which KubeVirt sets; remove it`)
      : fine),
    ...gatedAnnotations.flatMap(([key, gate]) =>
      !meta.annotations?.[key] || config.gate(gate)
        ? fine
        : invalid(
            `${at}.annotations`,
            `has ${key}, which needs the feature gate ${gate}; remove it or turn the gate on`,
          ),
    ),
  ];
}
