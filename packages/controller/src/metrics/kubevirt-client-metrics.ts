import type { Metrics } from "@virtkit/api/observe";

/**
 * Also reports requests to the API server under KubeVirt's names, for existing dashboards. Pass it to the client.
 * This client does not limit its own rate, so it has no metric for waiting on such a limit.
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
