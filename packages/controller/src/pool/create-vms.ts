import { apiVersionOf, type KubeObject } from "@virtkit/kube";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import { indexedVm } from "./indexed-vm.ts";
import { type PoolPass, poolError } from "./pool-pass.ts";
import { ensureRevision, ownedBy, revisionNameOf } from "./pool-revision.ts";

/** Creates VMs with the lowest free numbers. Skips numbers that foreign VMs have. */
export function createVms(pass: PoolPass, count: number): PlanError | undefined {
  const refused = ensureRevision(pass);
  if (refused) {
    return poolError("FailedScaleOut", `the pool's spec could not be stored: ${refused.message}`);
  }
  let problem: string | undefined;
  for (const index of freeIndexes(pass, count)) {
    const vm = newVm(pass, index);
    const refusal = pass.draft.write({ kind: "create", resource: pass.resources.vms, object: vm });
    if (refusal) {
      problem ??= `VM ${nameOf(vm).name} could not be created: ${refusal.message}`;
      continue;
    }
    pass.isUpToDate = false;
    const message = `VM ${nameOf(vm).name} was created`;
    pass.draft.event({ type: "Normal", reason: "SuccessfulCreate", message });
  }
  if (problem === undefined) return undefined;
  pass.draft.event({ type: "Warning", reason: "FailedCreate", message: problem });
  return poolError("FailedScaleOut", problem);
}

function* freeIndexes(pass: PoolPass, count: number): Generator<number> {
  const { name, namespace } = nameOf(pass.pool);
  const taken = new Set(
    pass.view.vms.flatMap((vm) => (nameOf(vm).namespace === namespace ? [nameOf(vm).name] : [])),
  );
  for (let index = 0, found = 0; found < count; index += 1) {
    if (taken.has(`${name}-${index}`)) continue;
    found += 1;
    yield index;
  }
}

function newVm(pass: PoolPass, index: number): KubeObject {
  const { name, namespace } = nameOf(pass.pool);
  const { labels, annotations, spec } = indexedVm(pass, index, revisionNameOf(pass.pool));
  const { vms } = pass.resources;
  const vm = {
    apiVersion: apiVersionOf(vms),
    kind: vms.kind,
    metadata: {
      name: `${name}-${index}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ...(annotations ? { annotations } : {}),
      finalizers: [pass.config.names.finalizers.pool],
      ownerReferences: [ownedBy(pass)],
    },
    spec,
  };
  return vm;
}
