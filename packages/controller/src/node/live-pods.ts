import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, isSet, objects, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";

/**
 * The VMIs without a living Pod. A Pod belongs to a VMI only if it names the VMI as its controller,
 * by UID.
 */
export function withoutLivePod(
  vmis: readonly VirtualMachineInstance[],
  pods: readonly KubeObject[],
): readonly VirtualMachineInstance[] {
  const alive = new Set(pods.filter(isAlive).flatMap(vmiKeys));
  return vmis.filter(
    ({ metadata }) => !alive.has(`${text(metadata?.namespace)}/${text(metadata?.uid)}`),
  );
}

/**
 * Whether something may still run in a Pod. A Pod that is being deleted lives until its containers
 * have ended.
 */
function isAlive(pod: KubeObject): boolean {
  const phase = at(pod, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed") return false;
  const containers = objects(at(pod, "status", "containerStatuses"));
  return (
    containers.length === 0 || !containers.every((each) => isSet(at(each, "state", "terminated")))
  );
}

function vmiKeys({ metadata }: KubeObject): readonly string[] {
  const owner = objects<{ kind?: string; uid?: string; controller?: boolean }>(
    metadata.ownerReferences,
  ).find(({ controller }) => controller === true);
  if (owner?.kind !== "VirtualMachineInstance") return [];
  return [`${metadata.namespace ?? ""}/${owner.uid}`];
}
