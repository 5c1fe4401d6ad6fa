/** The labels of a metric. Each should have few values, since every combination is a time series. */
export type Labels = Readonly<Record<string, string>>;

/** Where a component counts what it does; its user exports that to Prometheus or elsewhere. Must not throw. */
export interface Metrics {
  /** One more. */
  count(name: string, labels?: Labels): void;
  /** One measured value, as a duration in seconds. */
  observe(name: string, value: number, labels?: Labels): void;
}

/** Counts nothing; the default. */
export const noMetrics: Metrics = { count: () => {}, observe: () => {} };
