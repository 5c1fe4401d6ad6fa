/** What tells two counts of one name apart. Few values each: every one is a time series. */
export type Labels = Readonly<Record<string, string>>;

/** Where a part counts what it does; its user brings it to Prometheus or elsewhere. Must not throw. */
export interface Metrics {
  /** One more. */
  count(name: string, labels?: Labels): void;
  /** One measured value, as a duration in seconds. */
  observe(name: string, value: number, labels?: Labels): void;
}

/** Counts nothing: what a part has by default. */
export const noMetrics: Metrics = { count: () => {}, observe: () => {} };
