import type { Metrics } from "@virtkit/api/observe";

/**
 * Tells KubeVirt's names of requests to the API server besides the client's own, for dashboards that know those. Give
 * it to the client. This client has no limit of its own rate, and so no metric of how long it waited for that.
 */
export function kubevirtClientMetrics(metrics: Metrics): Metrics {
  return {
    count: (name, labels) => metrics.count(name, labels),
    observe(name, value, labels = {}) {
      metrics.observe(name, value, labels);
      if (name !== "kube_request_seconds") return;
      const { method = "", status = "", host = "", resource = "", verb = "", url = "" } = labels;
      const code = status === "0" ? "<error>" : status;
      metrics.count("kubevirt_rest_client_requests", { code, method, host, resource, verb });
      const told = { verb: method, url: `https://${host}${url}` };
      metrics.observe("kubevirt_rest_client_request_latency_seconds", value, told);
    },
  };
}
