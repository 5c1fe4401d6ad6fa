import { wallTime } from "@virtkit/api/clock";
import type { KubeClient, ObjectName, RequestOptions } from "@virtkit/kube";
import { about } from "../plan/about.ts";
import { notSynced } from "../plan/not-synced.ts";
import { type PlanRunner, type ReconcileAnswer, runPlan } from "../plan/run-plan.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { liveGrantView } from "../vmi/live-grant-view.ts";
import { cachedVmView } from "./cached-vm-view.ts";
import { cloneRequests } from "./data-volumes.ts";
import { mayClone } from "./may-clone.ts";
import { isStatusWrite, type OwnStatuses } from "./own-statuses.ts";
import { planVm } from "./plan-vm.ts";
import type { VmCaches } from "./vm-caches.ts";
import type { VmConfig, VmOptions, VmPassView } from "./vm-view.ts";

/** Options of {@link vmReconciler}. */
export interface VmReconcilerOptions extends PlanRunner {
  readonly caches: VmCaches;
  /** For live reads, and to ask what is permitted. */
  readonly client: Pick<KubeClient, "create" | "get" | "list">;
  /** As it is now: configurations change. */
  config(): VmConfig;
  readonly options?: VmOptions;
  /** What this process wrote last; without it no status of another writer is told from its own. */
  readonly statuses?: OwnStatuses;
  readonly wall?: () => Date;
}

/** Looks at one VM and carries out its plan; reads caches if they are enough, otherwise the API server. */
export function vmReconciler(
  given: VmReconcilerOptions,
): (vm: ObjectName, request?: RequestOptions) => Promise<ReconcileAnswer> {
  const { caches, client, options, statuses, wall = wallTime } = given;
  return async (name, { signal } = {}) => {
    const key = `${name.namespace}/${name.name}`;
    const cached = cachedVmView(caches, name);
    if (!cached) throw notSynced("VM", key);
    if (cached === "absent") {
      statuses?.forget(name);
      return {};
    }
    const config = given.config();
    const now = wall().getTime();
    const { needsLiveRead, writes } = planVm(cached, config, now, [], options);
    const isContested = writes.some(isStatusWrite) && statuses?.isOverwritten(name, cached.vm);
    const seen =
      (needsLiveRead ?? isContested) ? await live(client, name, cached, config, signal) : cached;
    if (!seen) return {};
    const view = { ...seen, mayClone: await permissions(client, seen, config, signal) };
    const target = statuses?.noting(name, given.target) ?? given.target;
    const runner = { target, record: given.record };
    return runPlan((outcomes) => planVm(view, config, now, outcomes, options), runner, {
      key,
      about: about(view.vm, vmResources(config.names).vms),
      signal,
    });
  };
}

/** The VM, its VMI and what may still run of earlier ones, as the API server has them; undefined if the VM is gone. */
async function live(
  client: Pick<KubeClient, "get" | "list">,
  name: ObjectName,
  cached: VmPassView,
  { names }: VmConfig,
  signal: AbortSignal | undefined,
): Promise<VmPassView | undefined> {
  const { vm, vmi, grant } = await liveGrantView(client, name, {
    names,
    isForVm: true,
    signal,
  });
  const { isLive, pods, nodes } = grant;
  return vm && { ...cached, vm, vmi, grant: { isLive, pods, nodes } };
}

/** What the VM's service account may clone, of all that it wants to. */
async function permissions(
  client: Pick<KubeClient, "create">,
  view: VmPassView,
  config: VmConfig,
  signal: AbortSignal | undefined,
): Promise<NonNullable<VmPassView["mayClone"]>> {
  const permitted = new Set<string>();
  for (const request of cloneRequests(view, config)) {
    if (await mayClone(client, request, { signal })) permitted.add(request.dataVolume);
  }
  return ({ dataVolume }) => permitted.has(dataVolume);
}
