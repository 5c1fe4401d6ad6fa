import type { KubeObject, ObjectName } from "@virtkit/kube";
import { controllerOf } from "../plan/ownership.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { poolReconciler } from "../pool/pool-reconciler.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import { sharedWatch, syncedFirst } from "./shared-watch.ts";

/** Pools and their numbered VMs. */
export const poolPart: ControllerPartMaker = { name: "pool", make };

function make(context: PartContext): ControllerPart {
  const { caches, names } = context;
  const { pools, vms } = vmResources(names);
  const config = () => context.config().cluster;
  const wall = () => context.wall();
  const poolOf = (vm: KubeObject): readonly ObjectName[] => ownerNamed(vm, pools.kind);
  return {
    watches: [
      sharedWatch(caches.pools),
      sharedWatch(caches.vms, { keys: poolOf }),
      sharedWatch(caches.vmis, {
        keys: (vmi) =>
          ownerNamed(vmi, vms.kind).flatMap((name) => {
            const vm = caches.vms.get(name);
            return vm.state === "present" ? poolOf(vm.object) : [];
          }),
      }),
      ...syncedFirst([caches.revisions, caches.claims, caches.dataVolumes] as never[]),
    ],
    reconcile: async (pool, request) => {
      const { behindFor, ...runner } = context.runner(pool);
      if (behindFor > 0) return { requeueAfter: behindFor };
      return await poolReconciler({ ...runner, caches, config, wall })(pool, request);
    },
  };
}

function ownerNamed(object: KubeObject, kind: string): readonly ObjectName[] {
  const owner = controllerOf(object);
  const { namespace } = object.metadata;
  return owner?.kind === kind && namespace !== undefined ? [{ namespace, name: owner.name }] : [];
}
