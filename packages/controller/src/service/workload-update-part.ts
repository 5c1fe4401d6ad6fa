import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import { changeOf } from "../workload-update/outdated.ts";
import { workloadUpdateReconciler } from "../workload-update/workload-update-reconciler.ts";
import type { ControllerPart, ControllerPartMaker, PartContext } from "./controller-part.ts";
import type { SharedCaches } from "./shared-caches.ts";
import { sharedWatch } from "./shared-watch.ts";

/** All VMIs of the cluster are looked at in one pass, at most once in this many milliseconds. */
const leastInterval = 5_000;

/** Launchers with an old image, and changes that wait for a migration. */
export const workloadUpdatePart: ControllerPartMaker = { name: "workload-update", make };

function make(context: PartContext): ControllerPart {
  const { caches, random, clock } = context;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const reconcile = workloadUpdateReconciler({
    caches,
    config: () => context.config().cluster,
    launcherImage: () => context.config().profile.image,
    random: () => random.number(),
    wall: () => context.wall(),
    ...context.runner({ name: "" }),
  });
  const everyone = () => kubevirtsOf(caches);
  return {
    concurrency: 1,
    watches: [
      sharedWatch(caches.kubevirts),
      sharedWatch(caches.vmis, {
        keys: everyone,
        predicate: ({ old, object }) => stateOf(old) !== stateOf(object),
      }),
      sharedWatch(caches.migrations, {
        keys: everyone,
        predicate: ({ old, object }) => old?.status?.phase !== object?.status?.phase,
      }),
      sharedWatch(caches.pods, { predicate: () => false }),
    ],
    reconcile: async (kubevirt, { signal }) => {
      const { behindFor, ...runner } = context.runner(kubevirt);
      if (behindFor > 0) return { requeueAfter: behindFor };
      const wait = lookedAt + leastInterval - clock.now();
      if (wait > 0) return { requeueAfter: wait };
      lookedAt = clock.now();
      return await reconcile(kubevirt, { signal, runner });
    },
  };
}

/** What decides whether a VMI is outdated; most changes to a VMI do not affect it. */
function stateOf(vmi: (VirtualMachineInstance & KubeObject) | undefined): string {
  if (!vmi) return "";
  const { phase, launcherContainerImageVersion } = vmi.status ?? {};
  const isGoing = vmi.metadata.deletionTimestamp !== undefined;
  const canMove = hasCondition(conditionsOf(vmi), "LiveMigratable", "True");
  return [phase, launcherContainerImageVersion, changeOf(vmi), canMove, isGoing].join();
}

function kubevirtsOf({ kubevirts }: SharedCaches): readonly ObjectName[] {
  const listed = kubevirts.list();
  const all = listed.state === "complete" ? listed.objects : listed.seen;
  return all.map(({ metadata: { namespace = "", name = "" } }) => ({ namespace, name }));
}
