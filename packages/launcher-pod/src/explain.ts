/** Where one part of a Pod comes from. */
export interface Provenance {
  /** The part, such as `spec.volumes[disk0]` or `metadata.annotations[kubevirt.io/domain]`. */
  readonly part: string;
  /** `vmi.spec...`, `config...` (the KubeVirt CR), `profile...`, `cluster...` or `rule`. */
  readonly from: string;
  readonly because: string;
}

/**
 * Records explanations while a Pod is rendered. Steps call it as `explain?.(...)`, so the texts are only built
 * on request.
 */
export type Explain = (part: string, from: string, because: string) => void;

/** An {@link Explain} that keeps the last note on each part, in the order of first mention. */
export function collectProvenance(): { explain: Explain; provenance: () => Provenance[] } {
  const notes = new Map<string, Provenance>();
  return {
    explain: (part, from, because) => {
      notes.set(part, { part, from, because });
    },
    provenance: () => [...notes.values()],
  };
}

/** Notes on the parts that most steps write. */
export const part = {
  volume: (name: string): string => `spec.volumes[${name}]`,
  container: (name: string): string => `spec.containers[${name}]`,
  initContainer: (name: string): string => `spec.initContainers[${name}]`,
  request: (name: string): string => `spec.containers[compute].resources.requests[${name}]`,
  limit: (name: string): string => `spec.containers[compute].resources.limits[${name}]`,
  claim: (name: string): string => `spec.containers[compute].resources.claims[${name}]`,
  selector: (key: string): string => `spec.nodeSelector[${key}]`,
  annotation: (key: string): string => `metadata.annotations[${key}]`,
  label: (key: string): string => `metadata.labels[${key}]`,
};
