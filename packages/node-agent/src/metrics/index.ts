export { GuestMetrics, type GuestMetricsOptions, type MeasuredGuest } from "./guest-metrics.ts";
export { guestSamples, type Sample } from "./guest-samples.ts";
export { type DeviceNames, type GuestStats, readGuestStats } from "./guest-stats.ts";
export { type MetricKind, metricKinds } from "./metric-kinds.ts";
export {
  type MetricsServer,
  type MetricsServerOptions,
  startMetricsServer,
} from "./metrics-server.ts";
export type { MigrationFigures } from "./migration-samples.ts";
export { nodeSamples } from "./node-samples.ts";
export { prometheusText } from "./prometheus-text.ts";
