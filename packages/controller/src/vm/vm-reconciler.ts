import { wallTime } from "@virtkit/api/clock";
import type { KubeClient, ObjectName, RequestOptions } from "@virtkit/kube";
import { about } from "../plan/about.ts";
import { notSynced } from "../plan/not-synced.ts";
import { decideFrom, type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { liveGrantView } from "../vmi/live-grant-view.ts";
import { cachedVmView } from "./cached-vm-view.ts";
import { cloneRequests } from "./data-volumes.ts";
import { mayClone } from "./may-clone.ts";
import { isStatusWrite, type OwnStatuses } from "./own-statuses.ts";
import { planVm } from "./plan-vm.ts";
import type { VmCaches } from "./vm-caches.ts";
import type { CloneRequest, VmConfig, VmOptions, VmPassView } from "./vm-view.ts";

/** Options of {@link vmReconciler}. */
export interface VmReconcilerOptions extends PlanRunner {
  readonly caches: VmCaches;
  /** For live reads, and to check permissions. */
  readonly client: Pick<KubeClient, "create" | "get" | "list">;
  /** The present configuration; it can change. */
  config(): VmConfig;
  readonly options?: VmOptions;
  /**
   * What this process wrote last. Without it the status of another writer cannot be told from its
   * own.
   */
  readonly statuses?: OwnStatuses;
  readonly wall?: () => Date;
}

/**
 * Makes one pass over a VM and carries out its plan. Reads the API server where caches are not
 * enough.
 */
export function vmReconciler(
  given: VmReconcilerOptions,
): (vm: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { caches, client, options, statuses, wall = wallTime } = given;
  return async (name, request = {}) => {
    const key = `${name.namespace}/${name.name}`;
    const cached = cachedVmView(caches, name);
    if (!cached) throw notSynced("VM", key);
    if (cached === "absent") {
      statuses?.forget(name);
      return {};
    }
    const config = given.config();
    const now = wall().getTime();
    const first = planVm(cached, config, now, [], options);
    const { needsLiveRead, writes } = first;
    const isContested = writes.some(isStatusWrite) && statuses?.isOverwritten(name, cached.vm);
    const seen =
      (needsLiveRead ?? isContested) ? await live(client, name, cached, config, request) : cached;
    if (!seen) return {};
    const clones = cloneRequests(seen, config);
    const view = { ...seen, mayClone: await permissions(client, clones, request) };
    const target = statuses?.noting(name, given.target) ?? given.target;
    const runner = { target, record: given.record };
    const isSameView = seen === cached && clones.length === 0;
    const decide = decideFrom(isSameView ? first : undefined, (outcomes) =>
      planVm(view, config, now, outcomes, options),
    );
    return runPlan(decide, runner, {
      key,
      about: about(view.vm, vmResources(config.names).vms),
      request,
    });
  };
}

/**
 * The VM, its VMI and what may still run of earlier ones, read from the API server; undefined if
 * the VM is gone.
 */
async function live(
  client: Pick<KubeClient, "get" | "list">,
  name: ObjectName,
  cached: VmPassView,
  { names }: VmConfig,
  { signal }: RequestOptions,
): Promise<VmPassView | undefined> {
  const { vm, vmi, grant } = await liveGrantView(client, name, {
    names,
    isForVm: true,
    cachedPods: cached.grant?.pods,
    signal,
  });
  const { isLive, pods, nodes } = grant;
  return vm && { ...cached, vm, vmi, grant: { isLive, pods, nodes } };
}

/** Which of the wanted clones the VM's service account may make. */
async function permissions(
  client: Pick<KubeClient, "create">,
  clones: readonly CloneRequest[],
  options: RequestOptions,
): Promise<NonNullable<VmPassView["mayClone"]>> {
  const permitted = new Set<string>();
  for (const request of clones) {
    if (await mayClone(client, request, options)) permitted.add(request.dataVolume);
  }
  return ({ dataVolume }) => permitted.has(dataVolume);
}
