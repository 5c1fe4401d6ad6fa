/** The labels of a metric. Each should have few values, since every combination is a time series. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Where a component reports its metrics; the application exports them to Prometheus or elsewhere. Must not
 * throw.
 */
export interface Metrics {
  /** Increments a counter. */
  count(name: string, labels?: Labels): void;
  /** Records a measured value, such as a duration in seconds. */
  observe(name: string, value: number, labels?: Labels): void;
}

/** Records nothing; the default. */
export const noMetrics: Metrics = { count: () => {}, observe: () => {} };
