export type { CollectedMetric, Sample } from "./collected-metric.ts";
export { controllerMetrics } from "./controller-metrics.ts";
export { kubevirtClientMetrics } from "./kubevirt-client-metrics.ts";
export { kubevirtQueueMetrics } from "./kubevirt-queue-metrics.ts";
export { type MigrationMetricsView, migrationMetrics } from "./migration-metrics.ts";
export {
  migrationPhaseHistograms,
  type PhaseHistograms,
  phaseTimes,
  vmiPhaseHistograms,
} from "./phase-times.ts";
export { type VmMetricsView, vmMetrics } from "./vm-metrics.ts";
export { type VmiMetricsView, vmiMetrics } from "./vmi-metrics.ts";
