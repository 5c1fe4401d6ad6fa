import type { Labels, Metrics } from "@virtkit/api/observe";

/** The control loop's counters by their KubeVirt names. Counters end in `_total` in Prometheus. */
const queueNames: Readonly<Record<string, string>> = {
  kube_queue_adds: "kubevirt_workqueue_adds",
  kube_queue_depth: "kubevirt_workqueue_depth",
  kube_queue_retries: "kubevirt_workqueue_retries",
  kube_queue_wait_seconds: "kubevirt_workqueue_queue_duration_seconds",
  kube_reconcile_seconds: "kubevirt_workqueue_work_duration_seconds",
};

/** Also reports queue metrics under KubeVirt's names, for existing dashboards. */
export function kubevirtQueueMetrics(metrics: Metrics): Metrics {
  const renamed = (labels: Labels = {}): Labels => {
    const name = labels["queue"] ?? labels["controller"] ?? "";
    return { name: `virt-controller-${name}` };
  };
  return {
    count(name, labels) {
      metrics.count(name, labels);
      const other = queueNames[name];
      if (other) metrics.count(other, renamed(labels));
    },
    observe(name, value, labels) {
      metrics.observe(name, value, labels);
      const other = queueNames[name];
      if (other) metrics.observe(other, value, renamed(labels));
    },
  };
}
