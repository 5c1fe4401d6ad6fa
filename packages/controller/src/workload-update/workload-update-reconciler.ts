import { wallTime } from "@virtkit/api/clock";
import type {
  KubeVirt,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from "@virtkit/api/schema";
import type { ObjectName, RequestOptions } from "@virtkit/kube";
import { about } from "../plan/about.ts";
import { notSynced } from "../plan/not-synced.ts";
import { known, knownObject, type ObjectSource, whenKnown } from "../plan/object-source.ts";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { planWorkloadUpdate, type WorkloadPlan } from "./plan-workload-update.ts";
import type { LauncherPod, WorkloadConfig, WorkloadView } from "./workload-view.ts";

/** Options of {@link workloadUpdateReconciler}. */
export interface WorkloadUpdateReconcilerOptions extends PlanRunner {
  readonly caches: {
    readonly kubevirts: ObjectSource<KubeVirt>;
    readonly vmis: ObjectSource<VirtualMachineInstance>;
    readonly migrations: ObjectSource<VirtualMachineInstanceMigration>;
    readonly pods: ObjectSource<object>;
  };
  config(): WorkloadConfig;
  /** The present image for launchers. */
  launcherImage(): string;
  readonly random?: () => number;
  readonly wall?: () => Date;
}

/**
 * Makes one pass over the VMIs of a cluster and updates outdated ones, with evictions in batches.
 * It remembers when it evicted the last batch; a new reconciler in another process may evict a
 * batch at once.
 */
export function workloadUpdateReconciler(
  options: WorkloadUpdateReconcilerOptions,
): (
  kubevirt: ObjectName,
  request?: RequestOptions & { readonly runner?: PlanRunner },
) => Promise<ReconcileAnswer> {
  const { caches, random, wall = wallTime } = options;
  let lastEviction: number | undefined;
  return async (name, request = {}) => {
    const { runner = options } = request;
    const key = `${name.namespace}/${name.name}`;
    const view = whenKnown((): WorkloadView | "absent" => {
      const kubevirt = knownObject(caches.kubevirts.get(name));
      const [vmis, pods] = [known(caches.vmis.list()), known(caches.pods.list())];
      const migrations = known(caches.migrations.list());
      const launcherImage = options.launcherImage();
      const launchers = pods as readonly LauncherPod[];
      return kubevirt
        ? { kubevirt, vmis, migrations, pods: launchers, launcherImage, lastEviction }
        : "absent";
    });
    if (!view) throw notSynced("KubeVirt", key);
    if (view === "absent") return {};
    const config = options.config();
    const now = wall().getTime();
    const drawn: number[] = [];
    const decide = (outcomes: Parameters<typeof planWorkloadUpdate>[3]): WorkloadPlan => {
      // A plan that is made again must have the same writes up to the refused one.
      let draws = 0;
      const again = (): number => {
        const number = drawn[draws] ?? random?.() ?? 0;
        drawn[draws++] = number;
        return number;
      };
      const plan = planWorkloadUpdate(view, config, now, outcomes, random && { random: again });
      // Counted from the attempt: a batch that failed in part is not tried again at once.
      if (plan.evictedAt !== undefined) lastEviction = plan.evictedAt;
      return plan;
    };
    return runPlan(decide, runner, {
      key,
      about: about(view.kubevirt, vmResources(config.names).kubevirts),
      request,
    });
  };
}
