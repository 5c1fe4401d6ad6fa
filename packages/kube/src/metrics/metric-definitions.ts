/** What a metric of this package is, for those who bring it to Prometheus or elsewhere. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

const short = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300];
const long = [1, 10, 60, 180, 300, 450, 600, 1_800];

/** Everything that this package counts and measures, by the name that `Metrics` receives. */
export const metricDefinitions: Readonly<Record<string, MetricDefinition>> = {
  kube_queue_depth: {
    type: "gauge",
    help: "Keys waiting to be taken",
    labels: ["queue"],
  },
  kube_queue_adds: { type: "counter", help: "Keys that were added", labels: ["queue"] },
  kube_queue_retries: {
    type: "counter",
    help: "Keys added again after a failure",
    labels: ["queue"],
  },
  kube_queue_wait_seconds: {
    type: "histogram",
    help: "Time from adding a key to taking it",
    labels: ["queue"],
    buckets: short,
  },
  kube_reconciles: {
    type: "counter",
    help: "Reconciles by result",
    labels: ["controller", "result"],
  },
  kube_reconciles_at_work: {
    type: "gauge",
    help: "Running reconciles",
    labels: ["controller"],
  },
  kube_reconciles_overdue: {
    type: "counter",
    help: "Reconciles that ran past their deadline",
    labels: ["controller"],
  },
  kube_reconcile_seconds: {
    type: "histogram",
    help: "Duration of reconciles",
    labels: ["controller", "result"],
    buckets: short,
  },
  kube_reflector_lists: {
    type: "counter",
    help: "Lists of all objects; more than one per start means that a watch had a gap",
    labels: ["resource"],
  },
  kube_reflector_failures: {
    type: "counter",
    help: "Lists and watches that failed",
    labels: ["resource", "code"],
  },
  kube_reflector_watch_seconds: {
    type: "histogram",
    help: "Duration of watches",
    labels: ["resource"],
    buckets: long,
  },
  kube_request_seconds: {
    type: "histogram",
    help: "Time from a request to the start of its answer",
    labels: ["method", "status"],
    buckets: short,
  },
  kube_request_retries: {
    type: "counter",
    help: "Requests that the server asked to retry",
    labels: ["method", "status"],
  },
  kube_leading: { type: "gauge", help: "Whether this process holds the lease", labels: ["lease"] },
  kube_leases_lost: { type: "counter", help: "Leases that were lost", labels: ["lease"] },
  kube_lease_overruns: {
    type: "counter",
    help: "How often work continued after its lease had expired",
    labels: ["lease"],
  },
  kube_lease_renewals: {
    type: "counter",
    help: "Renewals by outcome",
    labels: ["lease", "outcome"],
  },
  kube_events_dropped: {
    type: "counter",
    help: "Kubernetes events that were not written",
    labels: ["reason"],
  },
  kube_expectations_expired: {
    type: "counter",
    help: "Writes that no watch showed in time",
    labels: [],
  },
};
