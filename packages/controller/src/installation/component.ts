import { at, objects, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";

/** The programs of an installation. */
export const componentNames = ["virt-api", "virt-controller", "virt-handler"] as const;

/** One program of an installation, as its Deployment or DaemonSet shows it. */
export interface Component {
  readonly name: string;
  readonly image: string;
  /** Whether it can do its work: at least one of its Pods is ready, or none is wanted. */
  readonly isServing: boolean;
  /** Whether all its Pods are ready and run what its object asks for now. */
  readonly isRolledOut: boolean;
}

/** What is known about a program; `undefined` if it has no object. */
export function componentOf(name: string, workloads: readonly KubeObject[]): Component | undefined {
  const found = workloads.find(({ metadata }) => metadata.name === name);
  if (!found) return undefined;
  const [container] = objects(at(found, "spec", "template", "spec", "containers"));
  const count = (field: string): number => Number(at(found, "status", field) ?? 0);
  // Only a DaemonSet has this field.
  const isDaemonSet = at(found, "status", "desiredNumberScheduled") !== undefined;
  const [wanted, ready, updated] = isDaemonSet
    ? [count("desiredNumberScheduled"), count("numberReady"), count("updatedNumberScheduled")]
    : [
        Number(at(found, "spec", "replicas") ?? 1),
        count("readyReplicas"),
        count("updatedReplicas"),
      ];
  const isObserved =
    at(found, "status", "observedGeneration") === at(found, "metadata", "generation");
  return {
    name,
    image: text(container?.["image"]),
    isServing: ready > 0 || (isObserved && wanted === 0),
    isRolledOut: isObserved && ready === wanted && updated === wanted,
  };
}
