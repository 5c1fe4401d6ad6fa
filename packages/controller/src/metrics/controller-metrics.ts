import type { Metrics } from "@virtkit/api/observe";
import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import type { Cache } from "@virtkit/kube/cache";
import { nameOf } from "../plan/object-name.ts";
import type { Controllers } from "../service/create-controllers.ts";
import type { ClaimObject } from "../vmi/cluster-objects.ts";
import type { CollectedMetric } from "./collected-metric.ts";
import { migrationMetrics } from "./migration-metrics.ts";
import { migrationPhaseHistograms, phaseTimes, vmiPhaseHistograms } from "./phase-times.ts";
import { vmMetrics } from "./vm-metrics.ts";
import { vmiMetrics } from "./vmi-metrics.ts";

/**
 * The metrics of a process that runs the controllers, under KubeVirt's names, if they are computed
 * at each scrape: pass them to `collectMetrics` of `@virtkit/kube/prometheus`. Durations go to
 * `metrics` as they happen.
 */
export function controllerMetrics(
  controllers: Controllers,
  metrics: Metrics,
): readonly CollectedMetric<void>[] {
  const { caches, names } = controllers;
  const { vms, vmis, migrations, pods, claims } = caches;
  const follow = (cache: unknown, listener: ReturnType<typeof phaseTimes>): void => {
    (cache as Cache<KubeObject, string>).subscribe(listener);
  };
  follow(vmis, phaseTimes(vmiPhaseHistograms, metrics));
  follow(migrations, phaseTimes(migrationPhaseHistograms, metrics));
  const podOf = (vmi: VirtualMachineInstance): string | undefined => {
    const found = pods.byIndex("controller", text(vmi.metadata?.uid));
    const own = found.state === "complete" ? found.objects : found.seen;
    const here = own.find(({ spec }) => spec?.nodeName === vmi.status?.nodeName);
    return (here ?? own[0])?.metadata.name;
  };
  const vmiOf = (vm: VirtualMachine): VirtualMachineInstance | undefined =>
    present(vmis.get(nameOf(vm)));
  const claimOf = (vm: VirtualMachine, name: string): ClaimObject | undefined =>
    present(claims.get({ ...nameOf(vm), name }));
  const seen = <T>(list: ReturnType<Cache<T & KubeObject, string>["list"]>): readonly T[] =>
    list.state === "complete" ? list.objects : list.seen;
  const bound = <View>(
    all: readonly CollectedMetric<View>[],
    view: () => View,
  ): readonly CollectedMetric<void>[] =>
    all.map((metric) => ({ ...metric, samples: () => metric.samples(view()) }));
  const status = (name: string, help: string, value: () => boolean): CollectedMetric<void> => ({
    ...{ name: `kubevirt_virt_controller_${name}_status`, help, labels: [] },
    samples: () => [{ labels: {}, value: value() ? 1 : 0 }],
  });
  return [
    status("leading", "Whether this process leads", () => controllers.running().length > 0),
    status("ready", "Whether this process has seen all objects", () => vmis.hasSynced),
    ...bound(vmiMetrics, () => ({ vmis: seen(vmis.list()), podOf, names })),
    ...bound(vmMetrics, () => ({ vms: seen(vms.list()), vmiOf, claimOf, names })),
    ...bound(migrationMetrics, () => ({ migrations: seen(migrations.list()) })),
  ];
}

function present<T>(found: { readonly state: string; readonly object?: T }): T | undefined {
  return found.state === "present" ? found.object : undefined;
}
